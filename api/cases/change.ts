import { Case, CaseBatch, InvalidateCase, NewCase, NewCases, PatchCase, ResolveCase } from '../../contract/cases.ts';
import { AskForCaseLook } from '../../contract/looks.ts';
import { BatchResults } from '../../contract/tickets.ts';
import { caseView } from '../../domain/cases.ts';
import * as cases from '../../services/cases/cases.ts';
import * as courts from '../../services/cases/courts.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import { newId } from '../../services/shared/tokens.ts';
import { addBatch, batchResult, checkedEntry, wantedId } from '../adding.ts';
import type { Api } from '../api.ts';
import { answer, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { caseById, courtByName } from '../views.ts';

export const patchCase = endpoint('updateCase', 'PATCH /v1/cases/{id}', {
  ...caseById,
  summary: 'Change an open case, also while it is held; a holder who is a party now loses it',
  roles: ['producer', 'supervisor'],
  body: PatchCase,
  answers: { 200: Case },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller, params: { id }, body }) {
    return ok(caseView(await cases.change(ctx, id, body, caller.actor)));
  },
});

export const resolveCase = endpoint('resolveCase', 'POST /v1/cases/{id}/resolve', {
  ...caseById,
  summary: 'Decided by another system or an operator; its holders are notified',
  roles: ['producer', 'supervisor'],
  body: ResolveCase,
  answers: { 200: Case },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller, params: { id }, body }) {
    return ok(caseView(await cases.resolve(ctx, id, body, caller.actor)));
  },
});

export const addCaseLook = endpoint('addCaseLook', 'POST /v1/cases/{id}/looks', {
  ...caseById,
  summary: 'Appeal against a verdict: a second case for jurors who have not voted on it; 200: it is open already',
  roles: ['producer', 'supervisor'],
  body: AskForCaseLook,
  answers: { 201: Case, 200: Case },
  problems: ['not_found', 'not_final', 'already_open', 'erased'],
  async handle({ ctx, caller, params: { id }, body: { by, reason } }) {
    const person = by ?? caller.subject ?? caller.actor;
    const { item, created } = await cases.appeal(ctx, id, person, reason, caller.actor);
    return answer(created ? 201 : 200, caseView(item));
  },
});

export const invalidateCase = endpoint('invalidateCase', 'POST /v1/cases/{id}/invalidate', {
  ...caseById,
  summary: 'No one needs to judge it any more; its holders are notified',
  roles: ['producer', 'supervisor'],
  body: InvalidateCase,
  answers: { 200: Case },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller, params: { id }, body: { reason } }) {
    return ok(caseView(await cases.invalidate(ctx, id, reason, caller.actor)));
  },
});

export const addCaseEndpoint = endpoint('addCase', 'POST /v1/courts/{court}/cases', {
  ...courtByName,
  tag: 'Cases',
  summary: 'Bring a case before a court; the same id and content again is the same case',
  roles: ['producer', 'supervisor'],
  body: NewCase,
  takesKey: true,
  answers: { 200: Case, 201: Case },
  problems: ['not_found', 'id_conflict', 'erased'],
  async handle({ api, ctx, caller, params, body, header }) {
    const court = await courts.get(ctx, params.court);
    const id = wantedId(body.id, caller, 'case', header('idempotency-key'));
    const { item, created } = await cases.add(ctx, court, named(api, body, id), caller.actor);
    return answer(created ? 201 : 200, caseView(await cases.get(ctx, item.id)));
  },
});

export const addCaseBatch = endpoint('addCases', 'POST /v1/courts/{court}/cases/batch', {
  ...courtByName,
  tag: 'Cases',
  summary: 'Bring up to 1,000 cases; each has its own outcome, in order',
  roles: ['producer', 'supervisor'],
  body: CaseBatch,
  document: NewCases,
  bodyLimit: LARGE_BODY,
  checksEntries: true,
  answers: { 200: BatchResults },
  async handle({ api, ctx, caller, params, body }) {
    const court = await courts.get(ctx, params.court);
    const check = (sent: unknown) => named(api, checkedEntry(NewCase, 'case', sent));
    const add = (all: ReturnType<typeof named>[]) => cases.addAll(ctx, court, all, caller.actor);
    return ok({ results: (await addBatch(body.cases, check, add)).map(batchResult) });
  },
});

/** @returns the case with its id @throws Problem 422 */
function named(api: Api, sent: NewCase, id = sent.id ?? newId()) {
  checkCallback(api.ctx, 'callback', sent.callback);
  return { ...sent, id };
}
