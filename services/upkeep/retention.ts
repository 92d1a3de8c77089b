import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreState, Kind } from '../../contract/snapshot.ts';
import { only } from '../../db/pool.ts';
import { wordIn } from '../../domain/kind.ts';
import { kindOf } from '../../domain/kinds.ts';
import { kindsCleared, type RetentionRules, retentionOf } from '../../domain/retention.ts';
import { FELT } from '../../runtime/followers/pace.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { ServiceConfig } from '../shared/context.ts';
import { Archive } from './archive.ts';

/** What is looked at in one statement, and cleared in one transaction. A review may have megabytes. */
const BATCH = 200;
const REVIEWS = 10;
const QUEUES = 1_000;
/** Share of the time that is spent on clearing, by how callers fare. The rest is left to calls that had to wait for a batch. */
const SHARES = { alone: 0.9, unfelt: 0.5, felt: 0.2 };
/** After a start, and while another process leads. */
const SOON_MS = 5_000;
const EACH_MS = 60_000;

/** One sort of what is to be cleared. */
interface Walk {
  kind: string;
  /** What this walk is of, for the log. */
  of: string;
  size: number;
  /** The next that are old enough, or all but, in an order of their own; fewer than `size`: that was the last batch. */
  find(): Promise<{ id: string; done: boolean }[]>;
  /** As lines for the archive, as far as they fit on a page, each with how far its log had come. */
  show(ids: string[]): Promise<{ id: string; seq: number; line: string }[]>;
  /** Clears them; one whose log has gone on is left. @param seqs null: however far it has come */
  forget(ids: string[], seqs: number[] | null): Promise<{ n: number }[]>;
}

/**
 * Clears what has been over for longer than it is to be kept (S4.10), after it was written to the archive, if there is one.
 * The process that follows the log's first part does so. A crash between archive and clearing, or a change of that process,
 * may write the same items once more; nothing is cleared that was not written.
 */
export class Retention {
  readonly #runtime: Runtime;
  readonly #rules: RetentionRules;
  readonly #archive: Archive | undefined;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(runtime: Runtime, { retention, archive }: ServiceConfig) {
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
   * Clears all that is to be cleared now, in small transactions with pauses. What cannot be cleared is logged, and holds up nothing else.
   * @param goesOn asked after each batch
   * @returns how many items, reviews and tasks
   * @throws Error where the archive cannot be written; what was cleared before stays so
   */
  async clear(goesOn: () => boolean = () => true): Promise<number> {
    let cleared = 0;
    for await (const walk of this.#walks()) {
      for (let more = true; more; ) {
        const began = performance.now();
        const found = await walk.find();
        const ids = found.filter(({ done }) => done).map(({ id }) => id);
        for (let at = 0; at < ids.length; ) {
          const { n, passed } = await this.#clearThese(walk, ids.slice(at));
          cleared += n;
          at += passed;
        }
        await this.#pause((performance.now() - began) * (1 / this.#share - 1));
        if (!goesOn()) return cleared;
        more = found.length === walk.size;
      }
    }
    return cleared;
  }

  async #loop(): Promise<void> {
    const leads = () => !this.#stopping.signal.aborted && (this.#runtime.follower?.leads ?? false);
    for (let ms = SOON_MS; await this.#pause(ms); ) {
      ms = SOON_MS;
      if (!leads()) continue;
      ms = EACH_MS;
      try {
        const n = await this.clear(leads);
        if (n > 0) this.#runtime.log.info({ n }, 'cleared what had been kept for its time');
      } catch (error) {
        this.#runtime.log.warn({ err: (error as Error).message }, 'retention failed, trying again in a minute');
      }
    }
  }

  async *#walks(): AsyncGenerator<Walk> {
    const { db } = this.#runtime;
    const kinds = kindsCleared(this.#rules);
    const place = { afterKind: '', afterQueue: '', afterState: '' };
    for (let more = kinds.length > 0; more; ) {
      const found = await db.lists.run('finished_queues', { kinds, ...place, limit: QUEUES });
      for (const { kind, queue, state } of found) {
        Object.assign(place, { afterKind: kind, afterQueue: queue, afterState: state });
        const days = retentionOf(this.#rules, kind, queue);
        if (days !== null) yield this.#items(kind as Kind, queue, state as CoreState, days);
      }
      more = found.length === QUEUES;
    }
    const reviews = retentionOf(this.#rules, 'review');
    if (reviews !== null) yield this.#reviews(reviews);
    const tasks = retentionOf(this.#rules, 'task');
    if (tasks !== null) yield this.#tasks(tasks);
  }

  #items(kind: Kind, queue: string, state: CoreState, days: number): Walk {
    const { db } = this.#runtime;
    const find = (place: Place) => db.lists.run('finished_items', { kind, queue, state, days, ...place, limit: BATCH });
    return {
      ...{ kind, of: `${kind}s of ${queue}`, size: BATCH, find: onwards(find) },
      show: (ids) => db.lists.run('archived_items', { kind, ids, word: wordIn(kindOf(kind).words, state) }),
      forget: (ids, seqs) => db.move('forget_items', { kind, ids, seqs }),
    };
  }

  #reviews(days: number): Walk {
    const { db } = this.#runtime;
    let after = 0;
    return {
      ...{ kind: 'review', of: 'reviews', size: REVIEWS },
      async find() {
        const found = await db.lists.run('finished_reviews', { days, after, limit: REVIEWS });
        after = found.at(-1)?.seq ?? after;
        return found;
      },
      show: (ids) => db.lists.run('archived_reviews', { ids }),
      forget: (ids, seqs) => db.run('forget_reviews', { ids, seqs }),
    };
  }

  /** Tasks go when the last of their occurrences has gone. */
  #tasks(days: number): Walk {
    const { db } = this.#runtime;
    const find = (place: Place) => db.lists.run('finished_tasks', { days, ...place, limit: BATCH });
    return {
      ...{ kind: 'rotation', of: 'tasks', size: BATCH, find: onwards(find) },
      show: (ids) => db.lists.run('archived_tasks', { ids }),
      forget: (ids, seqs) => db.move('forget_tasks', { ids, seqs }),
    };
  }

  /**
   * Clears the first of these, as many as fit on a page of the archive. Where the database fails at them, half as many are tried, and
   * one that it fails at alone is passed by.
   */
  async #clearThese(walk: Walk, ids: string[]): Promise<{ n: number; passed: number }> {
    try {
      const lines = this.#archive && (await walk.show(ids));
      if (lines && lines.length > 0) await this.#archive?.write(walk.kind, lines);
      const these = lines?.map(({ id }) => id) ?? ids;
      const { n } = only(await walk.forget(these, lines?.map(({ seq }) => seq) ?? null));
      // none: others have cleared them meanwhile
      return { n, passed: these.length || ids.length };
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      if (ids.length > 1) return this.#clearThese(walk, ids.slice(0, Math.ceil(ids.length / 2)));
      this.#runtime.log.error({ of: walk.of, id: ids[0], err: (error as Error).message }, 'this one cannot be cleared');
      return { n: 0, passed: 1 };
    }
  }

  get #share(): number {
    const { slowdown } = this.#runtime.load;
    if (slowdown === undefined) return SHARES.alone;
    return slowdown > FELT ? SHARES.felt : SHARES.unfelt;
  }

  /** @returns false when this process is to stop */
  async #pause(ms: number): Promise<boolean> {
    await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
    return !this.#stopping.signal.aborted;
  }
}

interface Place {
  afterAt: string;
  afterSeq: number;
}

/** Each call goes on behind the last of the call before. */
function onwards<T extends { at: string; seq: number }>(find: (place: Place) => Promise<T[]>): () => Promise<T[]> {
  let place: Place = { afterAt: '-infinity', afterSeq: 0 };
  return async () => {
    const found = await find(place);
    const last = found.at(-1);
    if (last) place = { afterAt: last.at, afterSeq: last.seq };
    return found;
  };
}

/** SQLSTATE: PostgreSQL could not do that, however often it were asked: too large, or too slow. */
const isTooMuch = (error: unknown) => /^(22...|53200|54...|57014)$/.test(String((error as { code?: unknown }).code));
