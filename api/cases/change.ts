import { Case, InvalidateCase, PatchCase, ResolveCase } from '../../contract/cases.ts';
import { AskForCaseLook } from '../../contract/looks.ts';
import { caseView } from '../../domain/cases.ts';
import * as cases from '../../services/cases/cases.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { caseById } from '../resources.ts';

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
    const person = caller.subject ?? by ?? caller.actor;
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
