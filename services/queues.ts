import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import type { Mover, Receipt } from '../db/pool.ts';
import { deleteQueue, ensureQueue, getQueue, refreshDone, refreshItems } from '../db/queues.ts';
import { tickItems } from '../db/runtime.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Rules } from './rules.ts';

/** Transitions of one item that can be due at once: its lease, its delay, an escalation. */
const MAX_PASSES = 5;

const isDue = ({ wake_at, updated_at }: Item) => wake_at !== null && wake_at <= updated_at;

/**
 * Does what is due for these rows now, so that the answer and the next claim go by it (S0.2).
 * @returns the rows, followed by each later state of theirs
 */
export async function settleDue(db: Mover, kind: Kind, rows: Item[]): Promise<Item[]> {
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
async function tickThrough(db: Mover, kind: Kind, ids: string[], how?: Receipt): Promise<Item[]> {
  const all: Item[] = [];
  let due = ids;
  for (let pass = 0; pass < MAX_PASSES && due.length > 0; pass++) {
    const moved = await tickItems(db, kind, due, how);
    all.push(...moved);
    due = moved.filter(isDue).map((row) => row.id);
  }
  return all;
}

/**
 * Applies a queue's changed settings to everything open in it, in batches that each commit: place, deadline,
 * the escalations already reached, rules. Safe to repeat and to run twice at once; a crash in between leaves
 * `refresh_pending` true.
 */
export async function refreshQueue(db: Mover, rules: Rules, kind: Kind, name: string): Promise<void> {
  const queue = await getQueue(db, kind, name);
  if (!queue?.refresh_pending) return;
  let last = { created_at: '-infinity', seq: 0 };
  for (;;) {
    const batch = await refreshItems(db, kind, name, last);
    if (!batch) break;
    await tickThrough(db, kind, batch.due, { byTime: true });
    await rules.evaluateIds(batch.ruled);
    last = batch;
  }
  await refreshDone(db, queue);
}

export interface QueueService {
  /** Whether this process has made sure of it already. */
  isKnown(kind: Kind, name: string): boolean;
  /** Makes sure that a queue exists; known ones cost nothing. */
  ensure(kind: Kind, name: string): Promise<void>;
  /** Deletes a queue that has no items. */
  remove(kind: Kind, name: string): Promise<'deleted' | 'used' | 'not_found'>;
}

/** Queues that a process remembers. */
const MOST_KNOWN = 10_000;

export function queueService({ db }: Runtime): QueueService {
  const known = new Set<string>();
  const beingMade = new Map<string, Promise<void>>();
  return {
    isKnown: (kind, name) => known.has(`${kind}/${name}`),
    remove: (kind, name) => deleteQueue(db, kind, name).finally(() => known.delete(`${kind}/${name}`)),
    ensure(kind, name) {
      const key = `${kind}/${name}`;
      if (known.has(key)) return Promise.resolve();
      const making =
        beingMade.get(key) ??
        ensureQueue(db, kind, name).then(() => {
          // callers choose the names; forgetting costs one statement a queue
          if (known.size >= MOST_KNOWN) known.clear();
          known.add(key);
        });
      beingMade.set(key, making);
      return making.finally(() => beingMade.delete(key));
    },
  };
}
