import { IdParam, Page, pageOf } from '../../contract/common.ts';
import { Key, MadeKey, NewKey } from '../../contract/keys.ts';
import * as keys from '../../services/access/keys.ts';
import { Problem } from '../../services/shared/problems.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const view = (k: keys.KeyLine) => ({
  id: k.id,
  name: k.name,
  role: k.role,
  subject: k.subject,
  queues: k.queues,
  expiresAt: k.expires_at?.toISOString() ?? null,
  callsPerSecond: k.calls_per_second,
  issuer: k.issuer,
  createdAt: k.created_at.toISOString(),
  revokedAt: k.revoked_at?.toISOString() ?? null,
});

export const addKeyEndpoint = endpoint('addKey', 'POST /v1/keys', {
  tag: 'Keys',
  summary: 'A new key, shown in this answer only',
  roles: [],
  scope: 'unbound',
  body: NewKey,
  answers: { 201: MadeKey },
  async handle({ ctx, body: { name, role, subject = null, ...limits } }) {
    const made = { name: name ?? subject ?? role, role, subject, ...limits };
    const { row, key } = await keys.create(ctx, made);
    return answer(201, { ...view(row), key });
  },
});

export const listKeysEndpoint = endpoint('listKeys', 'GET /v1/keys', {
  tag: 'Keys',
  summary: 'All keys, newest first; never the keys themselves',
  roles: [],
  scope: 'unbound',
  query: Page,
  answers: { 200: pageOf(Key) },
  async handle({ ctx, query: { limit, cursor } }) {
    const rows = await keys.list(ctx, cursor ?? null, limit + 1);
    return ok(page(rows, limit, view, (k) => k.seq));
  },
});

export const revokeKeyEndpoint = endpoint('revokeKey', 'DELETE /v1/keys/{id}', {
  tag: 'Keys',
  summary: 'Ends a key, within a second everywhere',
  roles: [],
  scope: 'unbound',
  params: IdParam,
  answers: { 200: Key },
  problems: ['not_found'],
  async handle({ ctx, params: { id } }) {
    const row = await keys.revoke(ctx, id);
    if (!row) throw new Problem('not_found', `there is no key ${id}`);
    return ok(view(row));
  },
});
