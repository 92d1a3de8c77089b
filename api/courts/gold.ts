import { z } from '@hono/zod-openapi';
import { CourtParam, PutGold } from '../../contract/courts.ts';
import { addCases, closeCases, type NewCaseRow } from '../../db/cases.ts';
import { type Court, changeGold, goldOf } from '../../db/courts.ts';
import type { Mover } from '../../db/pool.ts';
import { verdictOf } from '../../services/courts.ts';
import { checkEntry, invalid, Problem } from '../../services/problems.ts';
import { contentHash } from '../../services/tokens.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { findCourt } from './settings.ts';

export const putGoldEndpoint = endpoint({
  method: 'put',
  path: '/v1/courts/{court}/gold',
  tag: 'Courts',
  summary: 'Replace the cases with known answers, hidden among the others and never in statistics',
  roles: [],
  params: CourtParam,
  body: PutGold,
  bodyLimit: LARGE_BODY,
  answers: { 200: z.object({ total: z.number().int() }) },
  problems: ['not_found', 'id_conflict'],
  async handle({ api, caller, params: { court: name }, body: { cases } }) {
    const { db } = api.runtime;
    const court = await findCourt(api, name);
    cases.forEach((one, n) => {
      checkEntry(`cases.${n}`, one);
      if (!court.options.includes(one.answer))
        throw invalid(`cases.${n}.answer`, `must be one of ${court.options.join(', ')}`);
    });
    const { votesLeft, priority } = verdictOf(court, {}, 0);
    const rows = cases.map(({ id, body, answer }) => {
      const plain = { votesLeft, priority, parties: [], callback: null, deadlineSeconds: null, actor: caller.actor };
      return { id, court: name, body, hash: contentHash({ court: name, body }), gold: answer, ...plain };
    });
    // all of it or nothing
    await db.transaction((tx) => replaceGold(tx, court, rows, caller.actor));
    return ok({ total: cases.length });
  },
});

async function replaceGold(tx: Mover, court: Court, rows: (NewCaseRow & { gold: string })[], actor: string) {
  const known = new Map((await goldOf(tx, court.name)).map((gold) => [gold.id, gold]));
  const fresh = rows.filter((row) => !known.has(row.id));
  const added = await addCases(tx, fresh);
  const made = new Set(added.map((item) => item.id));
  const clash = rows.find(({ id }) => known.get(id)?.ended_at || !(known.has(id) || made.has(id)));
  if (clash) throw new Problem('id_conflict', `${clash.id} stands for another case`);
  await changeGold(tx, court.name, rows);
  const wanted = new Set(rows.map((row) => row.id));
  const left = [...known.values()].filter((gold) => gold.ended_at === null && !wanted.has(gold.id));
  await closeCases(
    tx,
    left.map((gold) => gold.id),
    // as of any other case: its holders see it
    'withdrawn',
    actor,
  );
}
