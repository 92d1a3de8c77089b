import { AdminLogEntry, AdminLogPage } from '../../contract/admin-log.ts';
import { pageOf } from '../../contract/common.ts';
import type { RowOf } from '../../db/pool.ts';
import * as adminLog from '../../services/access/admin-log.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const view = (line: RowOf<'list_admin_log'>) => ({
  seq: line.seq,
  at: line.at.toISOString(),
  keyId: line.key_id,
  actor: line.actor,
  operation: line.operation,
  path: line.path,
  body: line.body,
  status: line.status,
  requestId: line.request_id,
});

export const listAdminLog = endpoint('listAdminLog', 'GET /v1/admin-log', {
  tag: 'Keys',
  summary: 'Who changed settings and keys, newest first',
  roles: [],
  scope: 'unbound',
  query: AdminLogPage,
  answers: { 200: pageOf(AdminLogEntry) },
  async handle({ ctx, query: { limit, cursor, path } }) {
    const rows = await adminLog.list(ctx, path, cursor ?? null, limit + 1);
    return ok(page(rows, limit, view, ({ seq }) => seq));
  },
});
