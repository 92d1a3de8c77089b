import { z } from '@hono/zod-openapi';
import * as contract from '../../contract/cases.ts';
import { pageByText } from '../../contract/common.ts';
import type { RowOf } from '../../db/pool.ts';
import * as cases from '../../services/cases/cases.ts';
import * as courts from '../../services/cases/courts.ts';
import { ofJuror } from '../../services/cases/invitations.ts';
import * as judging from '../../services/cases/judging.ts';
import { boundTo, personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { caseById, courtByName, listed } from '../views.ts';
import { viewForJuror } from './get.ts';

export const claimCaseEndpoint = endpoint('claimCase', 'POST /v1/courts/{court}/claim', {
  ...courtByName,
  tag: 'Cases',
  summary: 'Hand me a case to judge; one that I hold comes first',
  roles: ['reviewer', 'agent'],
  body: contract.ClaimCase,
  answers: { 200: contract.ClaimCaseAnswer },
  async handle({ ctx, caller, params: { court }, body, signal }) {
    const juror = personOf(caller, body.juror, 'juror');
    const claim = await judging.claim(ctx, court, juror, signal);
    if (claim.item === null) return ok({ case: null, lease: null, resumed: false, reasons: claim.reasons });
    const { item, token, expiresAt, resumed } = claim;
    const lease = { token, expiresAt: expiresAt.toISOString() };
    return ok({ case: await viewForJuror(ctx, caller, item, { juror }), lease, resumed, reasons: null });
  },
});

export const explainCaseEndpoint = endpoint('explainCase', 'POST /v1/courts/{court}/explain', {
  ...courtByName,
  tag: 'Cases',
  summary: 'Explain why a claim gets nothing, or whether it would get a case and how many go before it',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: {
    ...courtByName.scope,
    item: ({ body }) => (body.case === undefined ? undefined : ['case', body.case]),
  },
  body: contract.ExplainCase,
  answers: { 200: contract.ExplainCaseAnswer },
  async handle({ ctx, caller, params, body }) {
    const court = await courts.get(ctx, params.court);
    return ok(await cases.explain(ctx, court, personOf(caller, body.juror, 'juror'), body.case, boundTo(caller)));
  },
});

export const castVoteEndpoint = endpoint('castVote', 'POST /v1/cases/{id}/votes', {
  ...caseById,
  summary: 'Vote on a case that I hold; the deciding vote decides at once',
  roles: ['reviewer', 'agent'],
  body: contract.CastVote,
  answers: { 200: contract.CastVoteAnswer },
  problems: ['not_found', 'not_open', 'lease_lost', 'already_voted', 'conflict_of_interest'],
  async handle({ ctx, caller, params: { id }, body: { token, option, comment = null } }) {
    const hold = { id, token, subject: boundTo(caller) };
    const { counted, item } = await judging.vote(ctx, hold, option, comment);
    return ok({ counted, case: await viewForJuror(ctx, caller, item, { token }) });
  },
});

export const renewCase = endpoint('renewCase', 'POST /v1/cases/{id}/renew', {
  ...caseById,
  summary: 'A full lease again',
  roles: ['reviewer', 'agent'],
  body: contract.HoldToken,
  answers: { 200: z.object({ expiresAt: z.string() }) },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token } }) {
    const expiresAt = await judging.renew(ctx, { id, token, subject: boundTo(caller) });
    return ok({ expiresAt: expiresAt.toISOString() });
  },
});

export const releaseCase = endpoint('releaseCase', 'POST /v1/cases/{id}/release', {
  ...caseById,
  summary: 'Give a case back; skip: never offer it to me again',
  roles: ['reviewer', 'agent'],
  body: contract.ReleaseCase,
  answers: { 200: contract.Case },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token, skip } }) {
    const hold = { id, token, subject: boundTo(caller) };
    const item = await judging.leave(ctx, hold, skip ? 'skipped' : 'released');
    return ok(await viewForJuror(ctx, caller, item, { token }));
  },
});

export const declineCase = endpoint('declineCase', 'POST /v1/cases/{id}/decline', {
  ...caseById,
  summary: 'Not me: another juror is invited instead',
  roles: ['reviewer', 'agent'],
  body: contract.HoldToken,
  answers: { 200: contract.Case },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ ctx, caller, params: { id }, body: { token } }) {
    const item = await judging.leave(ctx, { id, token, subject: boundTo(caller) }, 'declined');
    return ok(await viewForJuror(ctx, caller, item, { token }));
  },
});

export const listInvitations = endpoint('listInvitations', 'GET /v1/jurors/{juror}/invitations', {
  tag: 'Cases',
  summary: "A juror's open invitations, newest first: one a court at most",
  roles: ['reviewer', 'agent'],
  scope: { list: 'court' },
  params: contract.JurorParam,
  query: pageByText(/^lt_[A-Za-z0-9_-]{1,100}$/),
  answers: { 200: contract.Invitations },
  async handle({ ctx, caller, params, query: { limit, cursor } }) {
    const juror = personOf(caller, params.juror, 'juror');
    return listed(ofJuror(ctx, juror, cursor, limit + 1), limit, view, (i) => i.token);
  },
});

const view = ({ case_id, court, token, expires_at }: RowOf<'invitations'>) => ({
  ...{ case: case_id, court, token },
  expiresAt: expires_at.toISOString(),
});
