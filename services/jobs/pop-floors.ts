import { DEFAULT_PRIORITY } from '../../contract/jobs.ts';
import type { Db } from '../../db/pool.ts';

/** A pop that takes longer may go past too much: it is looked whether it does. */
const SLOW_MS = 2;
/** What a pop must be spared: with a floor it is three looks at the index instead of one. */
const WORTH_MS = 1;
/** A topic whose pops take longer for another reason is looked at no sooner again. */
const AGAIN_MS = 5_000;
/** To find a floor takes as long as a pop is spared. The pause after it is so many times as long. */
const PAUSES = 20;
const LEAST_MS = 250;
/** After a restore, or on a standby that has taken over, numbers may be drawn again: a floor is looked for from the first job each time. */
const VALID_MS = 15_000;

/** Cache limit; cleared when exceeded. */
const MOST_TOPICS = 1_000;

/** `{priority, number}`, as `pop_jobs` takes it. */
type Floor = [priority: number, number: number];

/** State of a topic whose pops were slow. Times in milliseconds of `performance.now()`. */
const unknown = () => ({
  floor: undefined as Floor | undefined,
  validUntil: 0,
  lookAt: 0,
  looking: false,
  /** Transactions that may still commit a job whose number is not above this one. */
  drawn: undefined as { upTo: number; writers: string[] } | undefined,
});
type Known = ReturnType<typeof unknown>;

/**
 * Where the pops of a topic may begin (S3.1). While a transaction stays open for minutes, as a backup's does, nothing that was popped
 * since can be removed from the index, and a pop that begins at its first entry gets slower with each one before it. Jobs that
 * were added ready have numbers that only grow: once all transactions that drew lower ones have ended, none comes below the
 * first that is still there. Those that come back are found by an index of their own. Found out only for topics whose pops
 * are slow, and only for the default priority.
 */
export class PopFloors {
  readonly #db: Pick<Db, 'run'>;
  readonly #topics = new Map<string, Known>();
  readonly #slowMs: number;
  readonly #worthMs: number;
  readonly #leastMs: number;

  constructor(db: Pick<Db, 'run'>, { slowMs = SLOW_MS, worthMs = WORTH_MS, leastMs = LEAST_MS } = {}) {
    this.#db = db;
    this.#slowMs = slowMs;
    this.#worthMs = worthMs;
    this.#leastMs = leastMs;
  }

  /** @param pop is given the floor where there is one topic and its floor is known */
  async pop<T>(topics: string[], pop: (floor: Floor | null) => Promise<T>): Promise<T> {
    const [topic] = topics;
    if (topic === undefined || topics.length > 1) return pop(null);
    const begun = performance.now();
    const known = this.#topics.get(topic);
    const floor = (known && begun < known.validUntil && known.floor) || null;
    const popped = await pop(floor);
    const now = performance.now();
    if (floor !== null || now - begun > this.#slowMs) void this.#look(topic, now);
    return popped;
  }

  async #look(topic: string, now: number): Promise<void> {
    let known = this.#topics.get(topic);
    if (!known) {
      if (this.#topics.size >= MOST_TOPICS) this.#topics.clear();
      known = unknown();
      this.#topics.set(topic, known);
    }
    if (known.looking || now < known.lookAt) return;
    known.looking = true;
    try {
      await this.#find(topic, known);
    } catch {
      // the next slow pop tries again
    } finally {
      known.looking = false;
    }
  }

  async #find(topic: string, known: Known): Promise<void> {
    const db = this.#db;
    const writers = async () => (await db.run('writers_of_items', undefined))[0]?.writers ?? [];
    known.lookAt = performance.now() + this.#leastMs;
    if (known.drawn === undefined) {
      const [last] = await db.run('last_item_number', undefined);
      // after the number: who has drawn one has locked the table before
      if (last) known.drawn = { upTo: last.number, writers: await writers() };
      return;
    }
    const now = await writers();
    const { upTo, writers: before } = known.drawn;
    if (before.some((writer) => now.includes(writer))) return;
    known.drawn = undefined;
    const [found] = await db.run('floor_of_pops', { kind: 'job', topic, priority: DEFAULT_PRIORITY, upTo });
    if (!found) return;
    const worth = found.ms > this.#worthMs;
    known.floor = worth ? [DEFAULT_PRIORITY, found.floor] : undefined;
    known.validUntil = performance.now() + VALID_MS;
    known.lookAt = performance.now() + (worth ? Math.max(this.#leastMs, PAUSES * found.ms) : AGAIN_MS);
  }
}
