import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreState, Kind } from '../contract/snapshot.ts';
import { only } from '../db/pool.ts';
import { wordIn } from '../domain/kind.ts';
import { kindOf } from '../domain/kinds.ts';
import { type RetentionRules, retentionOf } from '../domain/retention.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Archive } from './archive.ts';

export interface RetentionConfig {
  /** How long what is over is kept. */
  retention: RetentionRules;
  /** The folder into which it is written before it is cleared; undefined: nowhere. */
  archive: string | undefined;
}

/** Items that are looked at in one statement, and cleared in one transaction. */
const BATCH = 200;
/** Of the time, so much goes into clearing: what others wait for behind a batch is over ten times as fast as it comes. */
const SHARE = 0.1;
const LEAST_PAUSE_MS = 20;
/** After a start, and while another process leads. */
const SOON_MS = 5_000;
const EACH_MS = 60_000;

/** A batch that was looked at: whether it was a full one, and what of it is to be cleared. */
interface Batch {
  full: boolean;
  ids: string[];
}

/**
 * Clears what has been over for longer than it is to be kept (S4.10), after it was written to the archive, if there is one.
 * One process does so at a time: the one that follows the log's first part. A crash between archive and clearing writes the same
 * items once more; nothing is cleared that was not written.
 */
export class Retention {
  readonly #runtime: Runtime;
  readonly #rules: RetentionRules;
  readonly #archive: Archive | undefined;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(runtime: Runtime, { retention, archive }: RetentionConfig) {
    this.#runtime = runtime;
    this.#rules = retention;
    this.#archive = archive === undefined ? undefined : new Archive(archive);
  }

  start(): void {
    this.#running = this.#loop();
  }

  /** Waits for the batch that is being cleared. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /**
   * Clears all that is to be cleared now, in small transactions with pauses.
   * @returns how many items, reviews and tasks
   * @throws what PostgreSQL or the archive's file system says; what was cleared before stays so
   */
  async clear(): Promise<number> {
    let cleared = 0;
    const { db } = this.#runtime;
    for (const { kind, queue, state } of await db.lists.run('finished_queues')) {
      const days = retentionOf(this.#rules, kind, queue);
      if (days !== null) cleared += await this.#clearQueue(kind as Kind, queue, state as CoreState, days);
    }
    const reviews = retentionOf(this.#rules, 'review');
    if (reviews !== null) cleared += await this.#clearReviews(reviews);
    const tasks = retentionOf(this.#rules, 'task');
    if (tasks !== null) cleared += await this.#clearTasks(tasks);
    return cleared;
  }

  async #loop(): Promise<void> {
    for (let ms = SOON_MS; await this.#pause(ms); ) {
      ms = SOON_MS;
      if (!this.#runtime.follower?.leads) continue;
      ms = EACH_MS;
      try {
        const n = await this.clear();
        if (n > 0) this.#runtime.log.info({ n }, 'cleared what had been kept for its time');
      } catch (error) {
        this.#runtime.log.warn({ err: (error as Error).message }, 'retention failed, trying again in a minute');
      }
    }
  }

  #clearQueue(kind: Kind, queue: string, state: CoreState, days: number): Promise<number> {
    const { db } = this.#runtime;
    const place = { afterAt: '-infinity', afterSeq: 0 };
    return this.#clearAll(kind, {
      find: async () => {
        const found = await db.lists.run('finished_items', { kind, queue, state, days, ...place, limit: BATCH });
        Object.assign(place, { afterAt: found.at(-1)?.at, afterSeq: found.at(-1)?.seq });
        return { full: found.length === BATCH, ids: idsOf(found) };
      },
      show: (ids) => db.lists.run('archived_items', { kind, ids, word: wordIn(kindOf(kind).words, state) }),
      forget: (ids) => db.move('forget_items', { kind, ids }),
    });
  }

  #clearReviews(days: number): Promise<number> {
    const { db } = this.#runtime;
    let after = 0;
    return this.#clearAll('review', {
      find: async () => {
        const found = await db.lists.run('finished_reviews', { days, after, limit: BATCH });
        after = found.at(-1)?.seq ?? after;
        return { full: found.length === BATCH, ids: idsOf(found) };
      },
      show: (ids) => db.lists.run('archived_reviews', { ids }),
      forget: (ids) => db.run('forget_reviews', { ids }),
    });
  }

  /** Tasks go when the last of their occurrences has gone. */
  #clearTasks(days: number): Promise<number> {
    const { db } = this.#runtime;
    return this.#clearAll('rotation', {
      find: async () => {
        const ids = (await db.lists.run('finished_tasks', { days, limit: BATCH })).map((task) => task.id);
        return { full: ids.length === BATCH, ids };
      },
      show: (ids) => db.lists.run('archived_tasks', { ids }),
      forget: (ids) => db.move('forget_tasks', { ids }),
    });
  }

  async #clearAll(
    kind: string,
    o: {
      find: () => Promise<Batch>;
      show: (ids: string[]) => Promise<{ line: string }[]>;
      forget: (ids: string[]) => Promise<{ n: number }[]>;
    },
  ): Promise<number> {
    let cleared = 0;
    for (let more = true; more; ) {
      const began = performance.now();
      const { full, ids } = await o.find();
      if (ids.length > 0) {
        await this.#archive?.write(
          kind,
          (await o.show(ids)).map(({ line }) => line),
        );
        cleared += only(await o.forget(ids)).n;
      }
      const took = performance.now() - began;
      more = full && (await this.#pause(Math.max(LEAST_PAUSE_MS, took * (1 / SHARE - 1))));
    }
    return cleared;
  }

  /** @returns false when this process is to stop */
  async #pause(ms: number): Promise<boolean> {
    await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
    return !this.#stopping.signal.aborted;
  }
}

const idsOf = (found: { id: string; done: boolean }[]) => found.filter(({ done }) => done).map(({ id }) => id);
