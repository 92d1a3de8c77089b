import { Case, CaseBatch, NewCase } from '../../contract/cases.ts';
import { CourtParam } from '../../contract/courts.ts';
import { BatchResults } from '../../contract/tickets.ts';
import { getCase } from '../../db/cases.ts';
import type { Court } from '../../db/courts.ts';
import { getItem } from '../../db/items.ts';
import { caseView } from '../../domain/cases.ts';
import { verdictOf } from '../../services/courts.ts';
import { contentHash, newId } from '../../services/tokens.ts';
import { entryOfBatch, keyedId, sameOrConflict } from '../adding.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { findCourt } from '../courts/settings.ts';
import { checkUrl } from '../deliveries.ts';
import { answer, endpoint, LARGE_BODY, ok } from '../endpoint.ts';

export const addCaseEndpoint = endpoint({
  method: 'post',
  path: '/v1/courts/{court}/cases',
  tag: 'Cases',
  summary: 'Bring a case before a court; the same id and content again is the same case',
  roles: ['producer'],
  params: CourtParam,
  body: NewCase,
  answers: { 200: Case, 201: Case },
  problems: ['not_found', 'id_conflict'],
  async handle({ api, caller, params, body, header }) {
    const court = await findCourt(api, params.court);
    const id = body.id ?? keyedId(caller, 'case', header('idempotency-key'));
    const { item, created } = await addCase(api, caller, court, body, id);
    const row = await getCase(api.runtime.db, item.id);
    if (!row) throw new Error(`case ${item.id} is gone`);
    return answer(created ? 201 : 200, caseView(row));
  },
});

export const addCaseBatch = endpoint({
  method: 'post',
  path: '/v1/courts/{court}/cases/batch',
  tag: 'Cases',
  summary: 'Bring up to 1,000 cases; each has its own outcome, in order',
  roles: ['producer'],
  params: CourtParam,
  body: CaseBatch,
  bodyLimit: LARGE_BODY,
  checksEntries: true,
  answers: { 200: BatchResults },
  problems: ['not_found'],
  async handle({ api, caller, params, body }) {
    const court = await findCourt(api, params.court);
    const add = (sent: unknown) => entryOfBatch(NewCase, 'case', sent, (one) => addCase(api, caller, court, one));
    return ok({ results: await Promise.all(body.cases.map(add)) });
  },
});

/** @throws Problem `id_conflict` when the id stands for other content, as it was first sent */
async function addCase(api: Api, { actor }: Caller, court: Court, sent: NewCase, id = sent.id ?? newId()) {
  checkUrl(api, 'callback.url', sent.callback?.url);
  const { parties, body, deadlineSeconds = null, callback = null } = sent;
  const content = { court: court.name, parties, body, deadlineSeconds, callback };
  const hash = contentHash(content);
  const { votesLeft, priority } = verdictOf(court, {}, 0);
  const item = await api.services.cases.add({ id, hash, gold: null, actor, votesLeft, priority, ...content });
  if (item) return { item, created: true };
  return sameOrConflict(await getItem(api.runtime.db, 'case', id), 'case', id, hash);
}
