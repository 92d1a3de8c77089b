import { CourtParam, type Juror, JurorsTotal, PutJurors } from '../../contract/courts.ts';
import { type Court, countJurors, forgetLists, openList, putJurors, swapList } from '../../db/courts.ts';
import { freeByList, freeByRows } from '../../db/invitations.ts';
import type { Db } from '../../db/pool.ts';
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
    const { db } = api.runtime;
    const court = await findCourt(api, name);
    const number = list === undefined ? court.list : await openList(db, name, list, first);
    for (const chunk of chunksOf(jurors)) await (list === undefined ? change : put)(db, court, number, chunk);
    if (list !== undefined && final)
      await db.transaction(async (tx) => {
        await swapList(tx, name, list);
        await freeByList(tx, name, court.list, number);
      });
    api.services.invitations.look();
    if (first || final) await forgetLists(db, name);
    return ok({ total: await countJurors(db, name, number) });
  },
});

const put = (db: Db, court: Court, list: number, jurors: Juror[]) => putJurors(db, court.name, list, jurors);

/** Changes the list that counts: whoever may be invited from now on is wanted at once where jurors are missing. */
const change = (db: Db, { name }: Court, list: number, jurors: Juror[]) =>
  db.transaction((tx) => freeByRows(tx, name, list, jurors, () => putJurors(tx, name, list, jurors)));

/** The last of several with one id counts, so all of them must be in one chunk. */
function chunksOf(jurors: Juror[]): Juror[][] {
  const unique = [...new Map(jurors.map((juror) => [juror.id, juror])).values()];
  const chunks: Juror[][] = [];
  for (let at = 0; at < unique.length; at += CHUNK) chunks.push(unique.slice(at, at + CHUNK));
  return chunks;
}
