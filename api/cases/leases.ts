import { z } from '@hono/zod-openapi';
import { Case, HoldToken, Invitations, JurorParam, ReleaseCase } from '../../contract/cases.ts';
import { IdParam, pageByText } from '../../contract/common.ts';
import { type Invitation, invitationsOf, type Leave, renewHold } from '../../db/cases.ts';
import type { Api } from '../api.ts';
import { boundTo, type Caller, personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';
import { freshCase, refuse } from './refusing.ts';
import { viewForJuror } from './view.ts';

export const renewCase = endpoint({
  method: 'post',
  path: '/v1/cases/{id}/renew',
  tag: 'Cases',
  summary: 'A full lease again',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: HoldToken,
  answers: { 200: z.object({ expiresAt: z.string() }) },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ api, caller, params: { id }, body: { token } }) {
    const renewed = await renewHold(api.runtime.db, id, token, boundTo(caller));
    if (renewed.outcome === 'done') return ok({ expiresAt: renewed.expires_at.toISOString() });
    throw await refuse(api, id, token, renewed.outcome);
  },
});

/** Ends a hold; the same again is the same answer. */
async function leave(api: Api, caller: Caller, leaving: Leave) {
  const outcome = await api.services.cases.leave(leaving);
  if (outcome !== 'done' && outcome !== 'repeated') throw await refuse(api, leaving.id, leaving.token, outcome);
  return ok(await viewForJuror(api, caller, await freshCase(api, leaving.id), { token: leaving.token }));
}

export const releaseCase = endpoint({
  method: 'post',
  path: '/v1/cases/{id}/release',
  tag: 'Cases',
  summary: 'Give a case back; skip: never offer it to me again',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: ReleaseCase,
  answers: { 200: Case },
  problems: ['not_found', 'not_open', 'lease_lost'],
  handle: ({ api, caller, params: { id }, body: { token, skip } }) =>
    leave(api, caller, { id, token, subject: boundTo(caller), how: skip ? 'skipped' : 'released' }),
});

export const declineCase = endpoint({
  method: 'post',
  path: '/v1/cases/{id}/decline',
  tag: 'Cases',
  summary: 'Not me: another juror is invited instead',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: HoldToken,
  answers: { 200: Case },
  problems: ['not_found', 'not_open', 'lease_lost'],
  handle: ({ api, caller, params: { id }, body: { token } }) =>
    leave(api, caller, { id, token, subject: boundTo(caller), how: 'declined' }),
});

export const listInvitations = endpoint({
  method: 'get',
  path: '/v1/jurors/{juror}/invitations',
  tag: 'Cases',
  summary: "A juror's open invitations, newest first: one a court at most",
  roles: ['reviewer', 'agent'],
  params: JurorParam,
  query: pageByText(/^lt_[A-Za-z0-9_-]{1,100}$/),
  answers: { 200: Invitations },
  async handle({ api, caller, params, query: { limit, cursor } }) {
    const juror = personOf(caller, params.juror, 'juror');
    const rows = await invitationsOf(api.runtime.db.lists, juror, cursor, limit + 1);
    return ok(page(rows, limit, view, (i) => i.token));
  },
});

const view = ({ case_id, court, token, expires_at }: Invitation) => ({
  ...{ case: case_id, court, token },
  expiresAt: expires_at.toISOString(),
});
