import { closeItems, type Item } from '../../db/items.ts';
import { getQueue, type Queue } from '../../db/queues.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { Problem } from '../../services/problems.ts';
import { contentHash } from '../../services/tokens.ts';
import { checkEntry } from '../adding.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { checkDecision, checkStatus } from './forms.ts';

/** What became of one ticket of a call that ends several. */
export type Ending = { id: string; item: Item } | { id: string; problem: Problem };

interface Wanted {
  state: 'settled' | 'invalidated';
  items: { id: string; result?: unknown }[];
  reason: string;
  queue?: string;
}

/**
 * Ends tickets from outside, in whatever open state they are; a holder is told (S0.4). The same ending
 * by the same caller again is the same answer.
 */
export async function endTickets(api: Api, caller: Caller, wanted: Wanted): Promise<Ending[]> {
  const { db } = api.runtime;
  const problems = wanted.state === 'settled' ? await misfits(api, wanted.items) : new Map<string, Problem>();
  const fit = uniqueById(wanted.items.filter((i) => !problems.has(i.id)));
  const ended = await closeItems(db, 'ticket', { ...wanted, items: fit, actor: caller.actor });
  const done = new Map(ended.map((i) => [i.id, i]));
  const missed = fit.filter((i) => !done.has(i.id)).map((i) => i.id);
  const left = new Map(
    (missed.length > 0 ? await db.run('get_items', { kind: 'ticket', ids: missed }) : []).map((i) => [i.id, i]),
  );
  return wanted.items.map(({ id, result }) => {
    const item = done.get(id);
    if (item) return { id, item };
    const problem = problems.get(id);
    if (problem) return { id, problem };
    const found = left.get(id);
    if (!found) return { id, problem: new Problem('not_found', `there is no ticket ${id}`) };
    if (isRepeat(found, wanted, caller.actor, result)) return { id, item: found };
    const named = { named_holder: null, named_ended_at: null, named_why: null };
    const { code, detail, ...fields } = refusalOf({ ...found, ...named });
    return { id, problem: new Problem(code, detail, fields) };
  });
}

/** @throws its Problem, for calls about one ticket */
export function itemOf(ending: Ending | undefined): Item {
  if (ending === undefined) throw new Error('no ending');
  if ('problem' in ending) throw ending.problem;
  return ending.item;
}

function isRepeat(found: Item, wanted: Wanted, actor: string, result: unknown): boolean {
  if (found.state !== wanted.state || found.ended_by !== actor || found.end_reason !== wanted.reason) return false;
  return wanted.state === 'invalidated' || contentHash(found.result) === contentHash(result);
}

/** Decisions that don't fit the form of their ticket's queue, or the review they go into. */
async function misfits(api: Api, items: Wanted['items']): Promise<Map<string, Problem>> {
  const found = new Map<string, Problem>();
  const queues = new Map<string, Queue | undefined>();
  const decisions = new Map(items.map((i) => [i.id, i.result]));
  for (const item of await api.runtime.db.run('get_items', { kind: 'ticket', ids: [...decisions.keys()] })) {
    if (!queues.has(item.queue)) queues.set(item.queue, await getQueue(api.runtime.db, 'ticket', item.queue));
    const queue = queues.get(item.queue);
    try {
      checkEntry('decision', decisions.get(item.id));
      checkStatus(item, decisions.get(item.id));
      if (queue) await checkDecision(api, queue, decisions.get(item.id));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      found.set(item.id, error);
    }
  }
  return found;
}

const uniqueById = <T extends { id: string }>(all: T[]): T[] => [...new Map(all.map((one) => [one.id, one])).values()];
