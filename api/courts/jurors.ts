import { CourtParam, type Juror, JurorsTotal, PutJurors } from '../../contract/courts.ts';
import { countJurors, forgetLists, openList, putJurors, swapList } from '../../db/courts.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { findCourt } from './settings.ts';

/** Rows of one statement: its locks are held no longer than that takes. */
const CHUNK = 5_000;

export const putJurorsEndpoint = endpoint({
  method: 'put',
  path: '/v1/courts/{court}/jurors',
  tag: 'Courts',
  summary: "Jurors, added or changed; with `list`, chunks of a list that replaces the court's at its `final` one",
  roles: ['producer'],
  params: CourtParam,
  body: PutJurors,
  bodyLimit: LARGE_BODY,
  answers: { 200: JurorsTotal },
  problems: ['not_found'],
  async handle({ api, params: { court: name }, body: { jurors, list, first, final } }) {
    const { db } = api.engine;
    const court = await findCourt(api, name);
    const number = list === undefined ? court.list : await openList(db, name, list, first);
    for (const chunk of chunksOf(jurors)) await putJurors(db, name, number, chunk);
    if (list !== undefined && final) await swapList(db, name, list);
    if (first || final) await forgetLists(db, name);
    return ok({ total: await countJurors(db, name, number) });
  },
});

/** The last of several with one id counts, so all of them must be in one chunk. */
function chunksOf(jurors: Juror[]): Juror[][] {
  const unique = [...new Map(jurors.map((juror) => [juror.id, juror])).values()];
  const chunks: Juror[][] = [];
  for (let at = 0; at < unique.length; at += CHUNK) chunks.push(unique.slice(at, at + CHUNK));
  return chunks;
}
