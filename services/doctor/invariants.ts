import { KINDS } from '../../contract/kinds.ts';
import { only, type Queryable } from '../../db/pool.ts';
import { kindOf } from '../../domain/kinds.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Found, Lines } from './checks.ts';

/** Violations of one rule that are looked for. */
const MOST = 1_000;
const EXAMPLES = 5;

/** A rule that rows obey in every snapshot. */
export interface Invariant {
  name: string;
  rule: string;
  advice: string;
  /** Whether it is about the items of a part of the log; else it is about all that it reads. */
  byLog: boolean;
  look(on: Queryable, lines: Lines): Promise<Found[]>;
}

const transitions = KINDS.flatMap((kind) =>
  transitionsOf(kind).map(({ event, to }) => ({ kind, event, state: to as string })),
);
const LIFECYCLE = {
  kinds: transitions.map((t) => t.kind),
  events: transitions.map((t) => t.event),
  states: transitions.map((t) => t.state),
};
const EXCLUSIVE = KINDS.filter((kind) => kindOf(kind).leased === 'one');
const REPORT = 'report it if only Docket writes to this database';

/** In the order in which they are looked at. */
export const INVARIANTS: readonly Invariant[] = [
  {
    name: 'counts',
    rule: 'counts of items and deliveries are those of the rows',
    advice: `The rows are right: run docket doctor --repair, which corrects the counts, and ${REPORT}.`,
    byLog: false,
    look: (on) => on.run('wrong_counts', { limit: MOST, correct: false }),
  },
  {
    name: 'states',
    rule: 'the last event of each item leads to its state',
    advice: `Read its events to see which state it should be in, put that back from a backup, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_states', { ...lines, ...LIFECYCLE, limit: MOST }),
  },
  {
    name: 'log',
    rule: 'events have no gap, agree with the row, and grant a ticket or job to one at a time',
    advice: `Put the item and its events back from a backup of before they parted, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_log', { ...lines, exclusive: EXCLUSIVE, limit: MOST }),
  },
  {
    name: 'holds',
    rule: 'what is held has a whole lease, the one that was granted last, and was due',
    advice: `Take the item from its holder as an operator, so that it is handed out with a new lease, and ${REPORT}.`,
    byLog: false,
    look: (on) => on.run('wrong_holds', { limit: MOST }),
  },
  {
    name: 'leases',
    rule: 'live leases of cases and tasks are of open items that were due',
    advice: `End each lease in SQL (set its ended_at, why and ended_by), because it keeps its holder from the next item, and ${REPORT}.`,
    byLog: false,
    look: (on) => on.run('wrong_leases', { limit: MOST }),
  },
  {
    name: 'cases',
    rule: 'votes, tallies, holds and capacity of cases agree, and no person has voted twice',
    advice: `Send the settings of the court again, which computes its cases anew; where votes and tally differ, put the case back from a backup, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_cases', { ...lines, limit: MOST }),
  },
  {
    name: 'stock',
    rule: 'occurrences have the stock that their dispatches leave, and no more dispatches than their task has',
    advice: `Change the task in any field, which computes the stock of its occurrences anew, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_stock', { ...lines, limit: MOST }),
  },
  {
    name: 'reviews',
    rule: 'record, index and base row of each review agree with its log',
    advice: `Send the review again with PUT, which writes its three stores anew, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_reviews', { ...lines, limit: MOST }),
  },
  {
    name: 'outcomes',
    rule: 'no outcome is pending whose delivery has ended',
    advice: `Send the outcome again (POST /v1/deliveries/<kind>/<itemId>/1/redeliver), which records its end, and ${REPORT}.`,
    byLog: false,
    look: (on) => on.run('wrong_outcomes', { limit: MOST }),
  },
  {
    name: 'feed',
    rule: 'each event that the sequencer has passed has a position in the feed, and each position an event',
    advice: `Readers of the feed have missed these events: let them begin again from 0 on a new target, and ${REPORT}.`,
    byLog: true,
    look: (on, lines) => on.run('wrong_positions', { ...lines, limit: MOST }),
  },
];

/** The newest `n` lines of the log. */
export async function newestLines(on: Queryable, n: number): Promise<Lines> {
  const { last } = only(await on.run('log_range'));
  return { from: Math.max(0, last - n), to: last };
}

const EVERY_MS = 300_000;
/** Of those that read a whole index. */
const WHOLE_EVERY_MS = 3_600_000;
const FIRST_MS = 60_000;
/** Whether this process is to look at all. */
const ASK_MS = 60_000;
/** Read for a gauge: some tenths of a second of one connection. */
const GAUGE_LINES = 5_000;

/**
 * Looks at the invariants for the gauges that must be 0: in one API process, the first by its id of those that live, one
 * invariant at a time on the lists' connections. At a million items all of them take half a second in five minutes, and the counts
 * a second in each hour.
 */
export class InvariantMonitor {
  /** How many rows break each invariant, as of the last look; empty where another process looks. */
  readonly violations = new Map<string, number>();
  readonly #o: Pick<Runtime, 'db' | 'node' | 'log'>;
  /** `performance.now()` at which each is looked at next. */
  readonly #dueAt = new Map<string, number>();
  #askAt = performance.now() + FIRST_MS;
  #running: Promise<void> | undefined;

  constructor(runtime: Runtime) {
    this.#o = runtime;
    runtime.maintenance.add(() => {
      if (performance.now() < this.#askAt) return;
      this.#running ??= this.#next().finally(() => {
        this.#running = undefined;
      });
    });
  }

  async stop(): Promise<void> {
    this.#askAt = Number.POSITIVE_INFINITY;
    await this.idle();
  }

  /** Until the look under way is over. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Looks at all of them now, whether or not this process is the one that looks. */
  async lookAtAll(): Promise<void> {
    for (const invariant of INVARIANTS) await this.#look(invariant);
  }

  /** The one that is due the longest. */
  async #next(): Promise<void> {
    const dueAt = ({ name }: Invariant) => this.#dueAt.get(name) ?? 0;
    const [first] = INVARIANTS.toSorted((a, b) => dueAt(a) - dueAt(b));
    if (!first || dueAt(first) > performance.now()) return;
    try {
      const nodes = await this.#o.db.lists.run('live_nodes');
      if (nodes.find(({ role }) => role !== 'worker')?.id === this.#o.node) return await this.#look(first);
      this.violations.clear();
      this.#dueAt.clear();
      this.#askAt = performance.now() + ASK_MS;
    } catch (error) {
      this.#o.log.warn({ err: (error as Error).message }, 'invariants cannot be looked at, trying again');
    }
  }

  async #look({ name, byLog, look }: Invariant): Promise<void> {
    const { lists } = this.#o.db;
    this.#dueAt.set(name, performance.now() + (name === 'counts' ? WHOLE_EVERY_MS : EVERY_MS));
    try {
      const found = await look(lists, byLog ? await newestLines(lists, GAUGE_LINES) : { from: 0, to: 0 });
      this.violations.set(name, found.length);
      if (found.length === 0) return;
      const examples = found.slice(0, EXAMPLES);
      this.#o.log.error({ check: name, count: found.length, examples }, 'an invariant is broken: run docket doctor');
    } catch (error) {
      this.violations.delete(name);
      this.#o.log.warn(
        { check: name, err: (error as Error).message },
        'an invariant cannot be looked at, trying again',
      );
    }
  }
}
