import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { dice } from '../dice.ts';
import { countBy, FINAL, type Verdict } from './checkers/checker.ts';
import { workflows } from './checkers/following.ts';
import { CHECKERS } from './checkers/index.ts';
import { type Facts, type History, readFacts, type Span } from './facts.ts';
import { Journal } from './journal.ts';
import { cases } from './kinds/cases.ts';
import { checked } from './kinds/checked.ts';
import { feed, readOn } from './kinds/feed.ts';
import { jobs } from './kinds/jobs.ts';
import { reviews } from './kinds/reviews.ts';
import { MEMBERS, tasks } from './kinds/tasks.ts';
import { ASLEEP_SECONDS, tickets } from './kinds/tickets.ts';
import { tubes } from './kinds/tubes.ts';
import { unleash } from './nemesis.ts';
import { type Fault, stepOf } from './plan.ts';
import { Receiver } from './receivers.ts';
import { type Seen, seenIn } from './seen.ts';
import { Workload } from './workload.ts';
import { CLOCK_READ_SECONDS, World } from './world.ts';

export interface StormOptions {
  seed: number;
  minutes: number;
  plan: Fault[];
  /** Where the journal goes. */
  journal?: string;
  /** An earlier release, with which the storm begins. */
  from?: string;
  /** Temporal's server on PostgreSQL instead of its development server. */
  production?: boolean;
  say: (line: string) => void;
}

export interface StormResult {
  seed: number;
  minutes: number;
  calls: Record<'ok' | 'refused' | 'unknown', number>;
  faults: Record<string, number>;
  verdicts: Record<string, Verdict>;
  seen: Seen & { 'callbacks signed at a wrong time, refused': number };
  /** From the end of the last fault until nothing was left to do. */
  drainSeconds: number;
}

/** The journal's times are those of the one who turns the clock. Others notice that later, and may be stopped with a time in hand. */
const AROUND_STEP_MS = (CLOCK_READ_SECONDS + 1) * 1_000 + 3_000;
const DRAIN_MS = 300_000;
/** Visibility follows the server's tasks at a distance. */
const VISIBLE_MS = 240_000;

/** Runs a seed's clients through its faults, lets everything come to its end, and checks. */
export async function storm(o: StormOptions): Promise<StormResult> {
  const world = await World.start(o);
  const journal = new Journal(o.journal);
  const receiver = new Receiver(() => journal.now());
  const workload = new Workload({
    keys: o.from === undefined,
    ...{ journal, roll: dice(o.seed + 1), callback: await receiver.listen() },
    servers: (['api-1', 'api-2'] as const).map((api) => ({
      http: () => world.url(api),
      tcp: () => world.line(`${api}:tcp`).port,
    })),
  });
  try {
    const kinds = [tickets, jobs, cases, reviews, tasks, ...(workload.keys ? [checked] : [])];
    await Promise.all(kinds.map((start) => start(workload)));
    const [wires, lines] = [tubes(workload), feed(workload)];
    o.say(`seed ${o.seed}: ${o.plan.length} faults in ${o.minutes} minutes`);
    const unleashed = unleash(o.plan, world, receiver, journal);
    await sleep(Math.max(0, o.minutes * 60_000 - journal.now()));
    workload.draining = true;
    await unleashed;
    const healed = journal.now();
    o.say(`the last fault is over after ${Math.round(healed / 1000)} s`);
    const facts = await drain(world);
    const drainSeconds = (journal.now() - healed) / 1000;
    await workload.end();
    wires.close();
    while (await readOn(lines, world.url('api-1')));
    const unsure = unsureOf(journal);
    for (const [from, to] of unsure)
      o.say(`the database's clock was off from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`);
    const history: History = {
      ...{ ...facts, began: journal.epoch, ops: journal.ops, unsure },
      ...{ feed: lines, received: receiver.received },
    };
    return {
      ...{ seed: o.seed, minutes: o.minutes, drainSeconds, calls: callsOf(journal), faults: faultsOf(journal) },
      verdicts: {
        ...judge(history),
        'callbacks not signed': { of: receiver.received.length, found: forged(receiver) },
        'broken, as docket doctor says': await world.doctor(),
      },
      seen: { ...seenIn(history), 'callbacks signed at a wrong time, refused': receiver.outOfTime },
    };
  } finally {
    // what one of its loops has thrown is known by then, and everything else has to be stopped all the same
    await workload.end().catch(() => {});
    await journal.close();
    receiver.stop();
    await world.stop();
  }
}

const judge = (history: History): Record<string, Verdict> =>
  Object.fromEntries(Object.entries(CHECKERS).map(([name, check]) => [name, check(history)]));

const forged = ({ forged: n }: Receiver): string[] => (n > 0 ? [`${n} callbacks had no valid signature`] : []);

/** Counts calls by what their clients know of them. */
const callsOf = ({ ops }: Journal): StormResult['calls'] => ({
  ...{ ok: 0, refused: 0, unknown: 0 },
  ...countBy(ops, ({ outcome }) => outcome),
});

const faultsOf = ({ faults }: Journal): Record<string, number> =>
  countBy(faults, ({ what, target, failure }) =>
    failure === undefined ? `${what} ${target.replace(/-\d/, '')}` : 'not made',
  );

/** The true times of each step of the database's clock, and what that clock showed meanwhile. */
export function unsureOf({ faults, epoch }: Pick<Journal, 'faults' | 'epoch'>): Span[] {
  const steps = faults.filter(({ what, target }) => what === 'clock' && target === 'postgres');
  return steps.map((fault) => {
    const ms = stepOf(fault) * 1000;
    return [
      epoch + fault.at + Math.min(0, ms) - AROUND_STEP_MS,
      epoch + fault.until + Math.max(0, ms) + AROUND_STEP_MS,
    ];
  });
}

/** What is not at its end: items that do not sleep, callbacks of reviews, deliveries, lines that no workflow has received. */
const LEFT = `select
  (select count(*) from item i where state <> all ($1) and delay_seconds < $2
     and (kind <> 'task' or (select count(*) from lease where item_id = i.id) < $3))::integer as items,
  (select count(*) from review_callback where outcome = 'pending')::integer as callbacks,
  (select count(*) from delivery where state = 'pending')::integer as deliveries,
  (select count(*) from event)::integer - (select coalesce(max(seq), 0) from feed)::integer as unnumbered`;

/** Waits until everything is at its end, or five minutes are over. @returns what the stores say then */
async function drain(world: World): Promise<Facts> {
  const connection = await Connection.connect({ address: world.temporal.address });
  const client = await world.connect();
  try {
    const until = performance.now() + DRAIN_MS;
    for (;;) {
      const { rows } = await client.query(LEFT, [[...FINAL], ASLEEP_SECONDS, MEMBERS]);
      if (Object.values(rows[0]).every((n) => n === 0) || performance.now() > until) break;
      await sleep(500);
    }
    return await settled(world.postgres.url, new Client({ connection }));
  } finally {
    await client.end();
    await connection.close();
  }
}

async function settled(databaseUrl: string, client: Client): Promise<Facts> {
  const until = performance.now() + VISIBLE_MS;
  for (;;) {
    const facts = await readFacts(databaseUrl, client);
    const { found } = workflows({ ...facts, began: 0, ops: [], unsure: [], feed: [], received: [] });
    if (found.length === 0 || performance.now() > until) return facts;
    await sleep(2_000);
  }
}

/** All that must not be, one a line. */
export const foundIn = ({ verdicts }: Pick<StormResult, 'verdicts'>): string[] =>
  Object.entries(verdicts).flatMap(([name, { found }]) => found.map((line) => `${name}: ${line}`));

/** Where a storm's journal is written. */
export const journalPath = (dir: string, seed: number): string => join(dir, `storm-${seed}.ndjson`);
