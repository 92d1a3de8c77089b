import { Page, pageOf } from '../../contract/common.ts';
import { Key, MadeKey, NewKey, type Role } from '../../contract/keys.ts';
import { IdParam } from '../../contract/names.ts';
import * as keys from '../../services/access/keys.ts';
import { Problem } from '../../services/shared/service.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { listed, viewOf } from '../views.ts';

const view = viewOf(Key);
const shared = { tag: 'Keys', roles: [] as Role[], scope: 'unbound' } as const;

export const addKeyEndpoint = endpoint('addKey', 'POST /v1/keys', {
  ...shared,
  summary: 'A new key, shown in this answer only',
  body: NewKey,
  answers: { 201: MadeKey },
  async handle({ ctx, body: { name, role, subject = null, ...limits } }) {
    const made = { name: name ?? subject ?? role, role, subject, ...limits };
    const { row, key } = await keys.create(ctx, made);
    return answer(201, { ...view(row), key });
  },
});

export const listKeysEndpoint = endpoint('listKeys', 'GET /v1/keys', {
  ...shared,
  summary: 'All keys, newest first; never the keys themselves',
  query: Page,
  answers: { 200: pageOf(Key) },
  handle: ({ ctx, query: { limit, cursor } }) =>
    listed(keys.list(ctx, cursor ?? null, limit + 1), limit, view, (k) => k.seq),
});

export const revokeKeyEndpoint = endpoint('revokeKey', 'DELETE /v1/keys/{id}', {
  ...shared,
  summary: 'Ends a key, within a second everywhere',
  params: IdParam,
  answers: { 200: Key },
  problems: ['not_found'],
  async handle({ ctx, params: { id } }) {
    const row = await keys.revoke(ctx, id);
    if (!row) throw new Problem('not_found', `there is no key ${id}`);
    return ok(view(row));
  },
});
