import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import type { Queryable } from '../db/pool.ts';
import { getQueue, refreshDone, refreshItems } from '../db/queues.ts';
import { tickItems } from '../db/runtime.ts';
import type { AfterCommit } from '../runtime/outbox/messages.ts';
import type { Rules } from './rules.ts';

/** Transitions of one item that can be due at once: its lease, its delay, an escalation. */
const MAX_PASSES = 5;

const isDue = ({ wake_at, updated_at }: Item) => wake_at !== null && wake_at <= updated_at;

/**
 * Does what is due for these rows now, so that the answer and the next claim go by it (S0.2).
 * @returns the rows, followed by each later state of theirs
 */
export async function settleDue(db: Queryable, kind: Kind, rows: Item[]): Promise<Item[]> {
  return [
    ...rows,
    ...(await tickThrough(
      db,
      kind,
      rows.filter(isDue).map((row) => row.id),
    )),
  ];
}

/** @returns every row that moved, once for each of its transitions */
async function tickThrough(db: Queryable, kind: Kind, ids: string[]): Promise<Item[]> {
  const all: Item[] = [];
  let due = ids;
  for (let pass = 0; pass < MAX_PASSES && due.length > 0; pass++) {
    const moved = await tickItems(db, kind, due);
    all.push(...moved);
    due = moved.filter(isDue).map((row) => row.id);
  }
  return all;
}

interface Refreshing {
  db: Queryable;
  after: AfterCommit;
  rules: Rules;
}

/**
 * Applies a queue's changed settings to everything open in it, in batches that each commit: place, deadline,
 * the escalations already reached, rules. Safe to repeat and to run twice at once; a crash in between leaves
 * `refresh_pending` true.
 */
export async function refreshQueue({ db, after, rules }: Refreshing, kind: Kind, name: string): Promise<void> {
  const queue = await getQueue(db, kind, name);
  if (!queue?.refresh_pending) return;
  let last = { created_at: '-infinity', seq: 0 };
  for (;;) {
    const batch = await refreshItems(db, kind, name, last);
    if (!batch) break;
    after(await tickThrough(db, kind, batch.due), { byTick: true });
    after(await rules.evaluateIds(batch.ruled), { byTick: true });
    last = batch;
  }
  await refreshDone(db, queue);
}
