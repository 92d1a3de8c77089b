import { KINDS } from '../../contract/kinds.ts';
import { columnsOf, only, type Queryable } from '../../db/pool.ts';
import { kindOf } from '../../domain/kinds.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';
import { type Context, perContext } from '../shared/service.ts';
import type { Found, Lines } from './checks.ts';

/** Violations of one rule that a check reports. */
const MOST = 1_000;
const EXAMPLES = 5;

/** A rule that rows obey in every snapshot; `wrong_<name>` in db/queries/doctor.sql finds those that break it. */
export interface Invariant {
  name: keyof typeof RULES;
  rule: string;
  advice: string;
  /** It checks the items of a range of the log; otherwise it checks all rows. */
  byLog?: true;
}

const TRANSITIONS = KINDS.flatMap((kind) => transitionsOf(kind).map(({ event, to }) => ({ kind, event, state: to })));
const REPORT = 'report it if only Docket writes to this database';
/** What the statements take beside the lines. */
const GIVEN = {
  ...columnsOf(TRANSITIONS, { kinds: 'kind', events: 'event', states: 'state' }),
  ...{ exclusive: KINDS.filter((kind) => kindOf(kind).leased === 'one'), correct: false, limit: MOST },
};

/** In the order in which they are checked. */
const RULES = {
  counts: {
    rule: 'counts of items and deliveries are those of the rows',
    advice: `The rows are right: run docket doctor --repair, which corrects the counts, and ${REPORT}.`,
  },
  states: {
    rule: 'the last event of each item leads to its state',
    advice: `Read its events to see which state it should be in, put that back from a backup, and ${REPORT}.`,
    byLog: true,
  },
  log: {
    rule: 'events have no gap, agree with the row, and grant a ticket or job to one at a time',
    advice: `Put the item and its events back from a backup of before they parted, and ${REPORT}.`,
    byLog: true,
  },
  waits: {
    rule: 'no workflow waits for an item that is over without being woken',
    advice: `Set wake_at of its row in wait to the present, and ${REPORT}.`,
  },
  looks: {
    rule: 'a ticket or case knows of each second look at it whether it is open',
    advice: `Invalidate an open look, which ends it in both; else ${REPORT}.`,
    byLog: true,
  },
  holds: {
    rule: 'what is held has a whole lease, the one that was granted last, and was due',
    advice: `Take the item from its holder as an operator, so that it is handed out with a new lease, and ${REPORT}.`,
  },
  leases: {
    rule: 'live leases of cases and tasks are of open items that were due',
    advice: `End each lease in SQL (set its ended_at, why and ended_by), because it keeps its holder from the next item, and ${REPORT}.`,
  },
  cases: {
    rule: 'votes, tallies, holds and capacity of cases agree, and no person has voted twice',
    advice: `Send the settings of the court again, which computes its cases anew; where votes and tally differ, put the case back from a backup, and ${REPORT}.`,
    byLog: true,
  },
  stock: {
    rule: 'occurrences have the stock that their dispatches leave, and no more dispatches than their task has',
    advice: `Change the task in any field, which computes the stock of its occurrences anew, and ${REPORT}.`,
    byLog: true,
  },
  reviews: {
    rule: 'record, index and base row of each review agree with its log',
    advice: `Send the review again with PUT, which writes its three stores anew, and ${REPORT}.`,
    byLog: true,
  },
  quotas: {
    rule: 'first hand-outs to registered reviewers are counted',
    advice: `Their quotas of today let them have more: lower these until tomorrow, and ${REPORT}.`,
    byLog: true,
  },
  outcomes: {
    rule: 'no outcome is pending whose delivery has ended',
    advice: `Send the outcome again (POST /v1/deliveries/<kind>/<itemId>/1/redeliver), which records its end, and ${REPORT}.`,
  },
  feed: {
    rule: 'each event that the sequencer has passed has a position in the feed, and each position an event',
    advice: `Readers of the feed have missed these events: let them begin again from 0 on a new target, and ${REPORT}.`,
    byLog: true,
  },
} satisfies Record<string, Omit<Invariant, 'name'>>;

export const INVARIANTS = Object.entries(RULES).map(([name, rule]) => ({ name, ...rule })) as readonly Invariant[];

/** The rows that break an invariant, of the items of these lines where it goes by the log. */
export const look = (on: Queryable, { name }: Invariant, lines: Lines): Promise<Found[]> =>
  on.run(`wrong_${name}` as 'wrong_log', { ...GIVEN, ...lines });

export async function newestLines(on: Queryable, n: number): Promise<Lines> {
  const { last } = only(await on.run('log_range'));
  return { from: Math.max(0, last - n), to: last };
}

const EVERY_MS = 300_000;
/** Interval of the check that reads a whole index. */
const WHOLE_EVERY_MS = 3_600_000;
const FIRST_MS = 60_000;
/** Interval at which a process that is not the first asks whether it is. */
const ASK_MS = 60_000;
/** Log lines that a gauge reads: some tenths of a second of one connection. */
const GAUGE_LINES = 5_000;

const monitors = perContext(() => ({
  violations: new Map<string, number>(),
  /** `performance.now()` at which each invariant is due. */
  dueAt: new Map<string, number>(),
  askAt: performance.now() + FIRST_MS,
}));

/** Number of rows that break each invariant, as of its last check; empty where another process checks. */
export const violations = (ctx: Context): ReadonlyMap<string, number> => monitors(ctx).violations;

/**
 * Checks the invariant that is due the longest, for the gauges that must be 0. A maintenance chore, which only one API
 * process does: the first by its id of those that are alive. At a million items all checks together read for half a
 * second in five minutes, and the counts for a second in each hour, on the connection of lists.
 */
export async function checkNext(ctx: Context): Promise<void> {
  const monitor = monitors(ctx);
  if (performance.now() < monitor.askAt) return;
  const dueAt = ({ name }: Invariant) => monitor.dueAt.get(name) ?? 0;
  const [first] = INVARIANTS.toSorted((a, b) => dueAt(a) - dueAt(b));
  if (!first || dueAt(first) > performance.now()) return;
  const nodes = await ctx.db.lists.run('live_nodes');
  if (nodes.find(({ role }) => role !== 'worker')?.id === ctx.node) return check(ctx, first);
  monitor.violations.clear();
  monitor.dueAt.clear();
  monitor.askAt = performance.now() + ASK_MS;
}

/** Checks all invariants now, whether or not this is the process that checks them. */
export async function checkAll(ctx: Context): Promise<void> {
  for (const invariant of INVARIANTS) await check(ctx, invariant);
}

async function check(ctx: Context, invariant: Invariant): Promise<void> {
  const { name, byLog } = invariant;
  const { db, log } = ctx;
  const monitor = monitors(ctx);
  monitor.dueAt.set(name, performance.now() + (name === 'counts' ? WHOLE_EVERY_MS : EVERY_MS));
  try {
    const found = await look(
      db.lists,
      invariant,
      byLog ? await newestLines(db.lists, GAUGE_LINES) : { from: 0, to: 0 },
    );
    monitor.violations.set(name, found.length);
    if (found.length === 0) return;
    const examples = found.slice(0, EXAMPLES);
    log.error({ check: name, count: found.length, examples }, 'an invariant is broken: run docket doctor');
  } catch (error) {
    monitor.violations.delete(name);
    log.warn({ check: name, err: (error as Error).message }, 'an invariant cannot be checked, trying again');
  }
}
