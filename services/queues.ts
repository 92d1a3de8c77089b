import type { QueueSettings } from '../contract/queues.ts';
import type { Kind } from '../contract/snapshot.ts';
import { only, type RowOf } from '../db/pool.ts';
import type { QueueRow } from '../db/statements.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { checkSettings } from './forms.ts';
import { tickThrough } from './items.ts';
import { Problem } from './problems.ts';
import type { PriorityChanges, Rules } from './rules.ts';

/** The kinds whose queues have no more than this, and what callers know them by. */
const NOUNS = {
  ticket: { queue: 'queue', content: 'tickets' },
  job: { queue: 'topic', content: 'jobs or schedules' },
};
type Named = keyof typeof NOUNS;

const unknown = (kind: Named, name: string) => new Problem('not_found', `there is no ${NOUNS[kind].queue} ${name}`);

/** Queues of tickets and jobs; courts and executors have settings of their own. */
export interface QueueService {
  /** Whether this process has made sure of it already. */
  isKnown(kind: Kind, name: string): boolean;
  /** Makes sure that a queue exists; known ones cost nothing. */
  ensure(kind: Kind, name: string): Promise<void>;
  /** @throws Problem `not_found`, or `id_conflict` for a queue that has items or schedules */
  remove(kind: Named, name: string): Promise<void>;
  get(kind: Kind, name: string): Promise<QueueRow | undefined>;
  /** @throws Problem `not_found` */
  find(kind: Named, name: string): Promise<QueueRow>;
  /** Newest first, those whose number in the list is below `before`. */
  list(kind: Kind, before: number | undefined, limit: number): Promise<QueueRow[]>;
  /**
   * Replaces a ticket queue's settings, and applies them at once to what is open in it.
   * @throws Problem 422 when the form or a rule is not a JSON Schema that can be used
   */
  put(name: string, settings: QueueSettings): Promise<QueueRow>;
  /** The tickets whose priority these settings would change. @throws Problem 422 as `put` does */
  dryRun(name: string, settings: QueueSettings): Promise<PriorityChanges>;
  /** Stops or resumes handing out tickets. */
  pause(name: string, paused: boolean): Promise<QueueRow>;
  /** Counts by state, exact as of the answer. */
  stats(kind: Kind, name: string): Promise<RowOf<'queue_stats'>>;
  /** Applies settings that have changed to what is open, and has done what is due by them. */
  refresh(kind: Kind, name: string): Promise<void>;
}

/** Queues that a process remembers. */
const MOST_KNOWN = 10_000;
/** Items whose rank, deadline and wake time one statement computes again. */
const REFRESH_BATCH = 2_000;

export function queueService(runtime: Runtime, rules: Rules): QueueService {
  const { db, schemas } = runtime;
  const get: QueueService['get'] = async (kind, name) => (await db.run('get_queue', { kind, name }))[0];
  const refresh: QueueService['refresh'] = async (kind, name) => {
    const queue = await get(kind, name);
    if (!queue?.refresh_pending) return;
    await refreshItems(runtime, rules, queue);
    runtime.rearm();
    runtime.follow();
  };
  return {
    ...knownQueues(runtime),
    ...{ get, refresh },
    async find(kind, name) {
      const queue = await get(kind, name);
      if (!queue) throw unknown(kind, name);
      return queue;
    },
    list: (kind, before, limit) => db.lists.run('list_queues', { kind, before, limit }),
    async put(name, settings) {
      await checkSettings(schemas, settings);
      const levelSeconds = settings.ageing?.secondsPerLevel;
      const queue = only(await db.run('put_queue', { kind: 'ticket', name, levelSeconds, ...settings }));
      if (queue.refresh_pending) await refresh('ticket', name);
      return queue;
    },
    async dryRun(name, settings) {
      await checkSettings(schemas, settings);
      return rules.wouldMove(name, settings);
    },
    async pause(name, paused) {
      await db.run('ensure_queue', { kind: 'ticket', name });
      const queue = only(await db.run('pause_queue', { kind: 'ticket', name, paused }));
      if (!paused) runtime.wakeAll(`ticket/${name}`);
      return queue;
    },
    stats: async (kind, name) => only(await db.lists.run('queue_stats', { kind, name })),
  };
}

function knownQueues({ db }: Runtime): Pick<QueueService, 'isKnown' | 'ensure' | 'remove'> {
  const known = new Set<string>();
  const beingMade = new Map<string, Promise<void>>();
  return {
    isKnown: (kind, name) => known.has(`${kind}/${name}`),
    async remove(kind, name) {
      const removed = db.run('delete_queue', { kind, name }).finally(() => known.delete(`${kind}/${name}`));
      const { outcome } = only(await removed);
      if (outcome === 'not_found') throw unknown(kind, name);
      const { queue, content } = NOUNS[kind];
      if (outcome === 'used')
        throw new Problem('id_conflict', `${queue} ${name} has ${content}, so it cannot be deleted`);
    },
    ensure(kind, name) {
      const key = `${kind}/${name}`;
      if (known.has(key)) return Promise.resolve();
      const making =
        beingMade.get(key) ??
        db.run('ensure_queue', { kind, name }).then(() => {
          // callers choose the names; forgetting costs one statement a queue
          if (known.size >= MOST_KNOWN) known.clear();
          known.add(key);
        });
      beingMade.set(key, making);
      return making.finally(() => beingMade.delete(key));
    },
  };
}

/**
 * Applies a queue's changed settings to everything open in it, in batches that each commit: rank, deadline, the
 * escalations already reached, rules. Safe to repeat and to run twice at once; a crash in between leaves
 * `refresh_pending` true.
 */
async function refreshItems({ db }: Runtime, rules: Rules, queue: QueueRow): Promise<void> {
  const { kind, name, settings_version: settingsVersion } = queue;
  let last = { created_at: '-infinity', seq: 0 };
  for (;;) {
    const after = { afterCreatedAt: last.created_at, afterSeq: last.seq };
    const [batch] = await db.move('refresh_items', { kind, name, ...after, limit: REFRESH_BATCH });
    if (!batch) break;
    await tickThrough(db, kind, batch.due);
    await rules.evaluateIds(batch.ruled);
    last = batch;
  }
  await db.run('refresh_done', { kind, name, settingsVersion });
}
