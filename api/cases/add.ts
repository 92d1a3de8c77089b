import { Case, CaseBatch, NewCase, NewCases } from '../../contract/cases.ts';
import { BatchResults } from '../../contract/tickets.ts';
import { caseView } from '../../domain/cases.ts';
import * as cases from '../../services/cases/cases.ts';
import * as courts from '../../services/cases/courts.ts';
import { checkCallback } from '../../services/shared/callbacks.ts';
import { newId } from '../../services/shared/tokens.ts';
import { entryOfBatch, wantedId } from '../adding.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { answer, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { courtByName } from '../resources.ts';

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
    const { item, created } = await addCase(api, caller, court, body, id);
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
    const add = (sent: unknown) => entryOfBatch(NewCase, 'case', sent, (one) => addCase(api, caller, court, one));
    return ok({ results: await Promise.all(body.cases.map(add)) });
  },
});

function addCase(api: Api, { actor }: Caller, court: courts.Court, sent: NewCase, id = sent.id ?? newId()) {
  checkCallback(api.ctx, 'callback', sent.callback);
  return cases.add(api.ctx, court, sent, id, actor);
}
