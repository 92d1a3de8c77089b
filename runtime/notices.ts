import type { Db, RowOf } from '../db/pool.ts';
import type { Log } from './log.ts';
import { Repeating } from './repeating.ts';

export type Notice = RowOf<'notices'>;

/** The recipient of notices: a person, or a ticket queue. */
export type NoticeFilter = { person: string } | { queue: string };

const POLL_MS = 500;
/** How many later numbers may be committed before a notice is. */
const OVERLAP_SECONDS = 15;
const REMEMBERED_MS = 120_000;
/** As many as `notices_after` gives at once. */
const PAGE = 1_000;

interface Following {
  /** The database's selection of missed notices. */
  of: NoticeFilter;
  /** Whether this reader gets a notice. */
  wanted(notice: Notice): boolean;
  /** Number of the last notice that the reader has; undefined: it begins now. */
  lastSeen: number | undefined;
  /** Called with the number to resume after, before any notice is sent. */
  begin(position: number): void;
  send(notice: Notice): void;
}

/**
 * Reads the table `notice` for holders who must be notified at once: on a hint from the process that wrote it, and every
 * half second. It runs only while there are readers.
 */
export class Notices {
  readonly #db: Db;
  readonly #listeners = new Set<(notice: Notice) => void>();
  /** By number: when the notice was last read. */
  readonly #seen = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #reading: Repeating;
  /** Start of the last successful reading: after a pause or failure, reading resumes from there. */
  #readAt = performance.now();

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#reading = new Repeating(
      () => this.#read(),
      (error) => log.warn({ err: error.message }, 'notices could not be read, trying again'),
    );
  }

  /**
   * Sends notices, first those that the reader missed, then new ones, none twice.
   * @returns a function that ends it, and the number after which the reader resumes without missing one
   */
  async follow({ of, wanted, lastSeen, begin, send }: Following): Promise<{ stop(): void; position(): number }> {
    let position = lastSeen ?? (await this.#db.run('last_notice'))[0]?.seq ?? 0;
    const missed = new Set<number>();
    const write = (notice: Notice) => {
      if (!wanted(notice)) return;
      position = notice.seq;
      send(notice);
    };
    let arrived: Notice[] | undefined = [];
    const stop = await this.#listen((notice) => {
      if (arrived) arrived.push(notice);
      else if (!missed.has(notice.seq)) write(notice);
    });
    try {
      begin(position);
      if (lastSeen !== undefined)
        for await (const notice of this.#missed(lastSeen, of)) {
          missed.add(notice.seq);
          write(notice);
        }
    } catch (error) {
      stop();
      throw error;
    }
    for (const notice of arrived) if (!missed.has(notice.seq)) write(notice);
    arrived = undefined;
    return { stop, position: () => position };
  }

  /** Reads now, because there are new notices. */
  look(): void {
    if (this.#listeners.size > 0) this.#reading.run();
    else this.stop();
  }

  stop(): void {
    this.#listeners.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** @returns a function that ends the subscription */
  async #listen(listener: (notice: Notice) => void): Promise<() => void> {
    if (this.#listeners.size === 0) {
      const began = performance.now();
      this.#remember(await this.#db.run('notices', { seconds: OVERLAP_SECONDS }));
      this.#readAt = began;
    }
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.look(), POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The notices a reader missed since the last one it saw. Of two written at once it may have seen the other. */
  async *#missed(seq: number, of: NoticeFilter): AsyncGenerator<Notice> {
    for (let last = seq; ; ) {
      const page = await this.#db.run('notices_after', { seq: last, ...of });
      yield* page;
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end.seq;
    }
  }

  /** Remembers numbers for longer than a reading may be late, so that none is sent twice. */
  #remember(notices: Notice[]): void {
    const now = performance.now();
    for (const { seq } of notices) {
      // Re-inserted at the end, so that the oldest are first.
      this.#seen.delete(seq);
      this.#seen.set(seq, now);
    }
    for (const [seq, at] of this.#seen) {
      if (at > now - REMEMBERED_MS) break;
      this.#seen.delete(seq);
    }
  }

  async #read(): Promise<void> {
    const began = performance.now();
    const recent = await this.#db.run('notices', { seconds: OVERLAP_SECONDS + (began - this.#readAt) / 1000 });
    this.#readAt = began;
    for (const notice of recent) {
      if (this.#seen.has(notice.seq)) continue;
      for (const listener of this.#listeners) listener(notice);
    }
    this.#remember(recent);
  }
}
