import { AdminLogEntry, AdminLogPage } from '../../contract/admin-log.ts';
import { pageOf } from '../../contract/common.ts';
import * as adminLog from '../../services/access/admin-log.ts';
import { endpoint } from '../endpoint.ts';
import { listed, viewOf } from '../views.ts';

export const listAdminLog = endpoint('listAdminLog', 'GET /v1/admin-log', {
  tag: 'Keys',
  summary: 'Changes of settings and keys with their authors, newest first',
  roles: [],
  scope: 'unbound',
  query: AdminLogPage,
  answers: { 200: pageOf(AdminLogEntry) },
  handle: ({ ctx, query: { limit, cursor, path } }) =>
    listed(adminLog.list(ctx, path, cursor ?? null, limit + 1), limit, viewOf(AdminLogEntry), ({ seq }) => seq),
});
