import type { QueueSettings } from '../../contract/queues.ts';
import type { Kind } from '../../contract/snapshot.ts';
import { only } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { found, Problem } from '../shared/problems.ts';
import { checkSettings } from './forms.ts';
import { tickThrough } from './items.ts';
import type { Rules } from './rules.ts';
import { watching } from './watching.ts';

/** The kinds whose queues have no more than this, and what callers know them by. */
const NOUNS = {
  ticket: { queue: 'queue', content: 'tickets' },
  job: { queue: 'topic', content: 'jobs or schedules' },
};
type Named = keyof typeof NOUNS;

const missing = (kind: Named, name: string) => `there is no ${NOUNS[kind].queue} ${name}`;

/** Queues that a process remembers. */
const MOST_KNOWN = 10_000;
/** Items whose rank, deadline and wake time one statement computes again. */
const REFRESH_BATCH = 2_000;

export type QueueService = ReturnType<typeof queueService>;

/** Queues of tickets and jobs; courts and executors have settings of their own. */
export function queueService(runtime: Runtime, rules: Rules) {
  const { db, schemas, secrets } = runtime;
  const get = async (kind: Kind, name: string) => (await db.run('get_queue', { kind, name }))[0];
  /** Applies settings that have changed to what is open, and has done what is due by them. */
  const refresh = async (kind: Kind, name: string) => {
    const queue = await get(kind, name);
    if (!queue?.refresh_pending) return;
    await refreshItems(runtime, rules, queue);
    runtime.rearm();
    runtime.follow();
  };
  return {
    ...knownQueues(runtime),
    ...{ get, refresh },
    /** @throws Problem `not_found` */
    find: async (kind: Named, name: string) => found(await db.run('get_queue', { kind, name }), missing(kind, name)),
    /** Newest first, those whose number in the list is below `before`. */
    list: (kind: Kind, before: number | undefined, limit: number) =>
      db.lists.run('list_queues', { kind, before, limit }),
    /**
     * Replaces a ticket queue's settings, and applies them at once to what is open in it.
     * @throws Problem 422 when the form or a rule is not a JSON Schema that can be used
     */
    async put(name: string, settings: QueueSettings) {
      await checkSettings(schemas, settings);
      const levelSeconds = settings.ageing?.secondsPerLevel;
      const row = { ...settings, callback: secrets.seal(settings.callback) };
      const queue = only(await db.run('put_queue', { kind: 'ticket', name, levelSeconds, ...row }));
      if (queue.refresh_pending) await refresh('ticket', name);
      return queue;
    },
    /** The tickets whose priority these settings would change. @throws Problem 422 as `put` does */
    async dryRun(name: string, settings: QueueSettings) {
      await checkSettings(schemas, settings);
      return rules.wouldMove(name, settings);
    },
    /** Stops or resumes handing out tickets. */
    async pause(name: string, paused: boolean) {
      await db.run('ensure_queue', { kind: 'ticket', name });
      const queue = only(await db.run('pause_queue', { kind: 'ticket', name, paused }));
      if (!paused) runtime.wakeAll(`ticket/${name}`);
      return queue;
    },
    ...figures(runtime),
  };
}

function figures({ db }: Runtime) {
  /** By name: counts by state, exact as of the answer. */
  const statsOf = async (kind: Kind, names: string[]) =>
    new Map((await db.lists.run('queue_stats', { kind, names })).map((row) => [row.name, row]));
  const stats = async (kind: Kind, name: string) => only([...(await statsOf(kind, [name])).values()]);
  /** Of a queue of tickets. */
  const watchStats = watching((name) => stats('ticket', name));
  return { statsOf, stats, watchStats };
}

function knownQueues({ db }: Runtime) {
  const known = new Set<string>();
  const beingMade = new Map<string, Promise<void>>();
  return {
    /** Whether this process has made sure of it already. */
    isKnown: (kind: Kind, name: string) => known.has(`${kind}/${name}`),
    /** @throws Problem `not_found`, or `id_conflict` for a queue that has items or schedules */
    async remove(kind: Named, name: string) {
      const removed = db.run('delete_queue', { kind, name }).finally(() => known.delete(`${kind}/${name}`));
      const { outcome } = only(await removed);
      if (outcome === 'not_found') throw new Problem('not_found', missing(kind, name));
      const { queue, content } = NOUNS[kind];
      if (outcome === 'used')
        throw new Problem('id_conflict', `${queue} ${name} has ${content}, so it cannot be deleted`);
    },
    /** Makes sure that a queue exists; known ones cost nothing. */
    ensure(kind: Kind, name: string): Promise<void> {
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
