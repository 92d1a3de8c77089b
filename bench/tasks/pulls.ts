import { openCallers } from '../client.ts';
import { dice } from '../dice.ts';
import { forgetUnpublished, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { openUserQueues } from '../rivals/user-queues/index.ts';
import { median, ms, quantile, repeat, short } from '../stats.ts';
import { type Faults, sum } from './ledger.ts';
import { type Population, uidOf } from './population.ts';
import { rush } from './rush.ts';
import { administer, complete, openSide, pull, type Side } from './side.ts';

const CONCURRENCY = [1, 16, 64];
const RIVAL = 'queue per user';
const ADMIN_MS = 100;

interface Turn {
  /** Pairs per second. */
  rate: number;
  /** Milliseconds of each pull. */
  took: number[];
}

interface Results {
  turns: Map<number, Turn[]>;
  /** Of the groups that ask all at once. */
  rushes: { pairs: number; seconds: number }[];
  steady: Faults[];
  rushed: Faults[];
}

/** Pulls with completions of clients from everywhere, and of whole groups at once, beside the article's scheme (S4.4, S4.11). */
export async function pulls(lab: Lab, report: Report, population: Population): Promise<void> {
  const [rounds, seconds, rushes] = lab.quick ? [1, 2, 24] : [3, 3, 40];
  const rival = await openUserQueues(lab, population);
  const [ours, theirs] = [openSide(population, []), { ...openSide(population, [409]), url: rival.url }];
  const all = { ours: noResults(), theirs: noResults() };
  try {
    for (let round = 0; round < rounds; round++) {
      const docket = await lab.docket();
      ours.url = docket.url;
      try {
        await oneRound(lab, 'Docket', ours, population, all.ours, { round, seconds, rushes });
      } finally {
        await docket.stop();
        await forgetUnpublished(lab);
      }
      await oneRound(lab, RIVAL, theirs, population, all.theirs, { round, seconds, rushes });
    }
  } finally {
    await rival.stop();
  }
  write(report, population, all.ours, all.theirs);
  await mustBeRight(lab, ours);
}

const noResults = (): Results => ({
  turns: new Map(CONCURRENCY.map((n) => [n, []])),
  rushes: [],
  steady: [],
  rushed: [],
});

interface Size {
  round: number;
  seconds: number;
  /** Groups that ask all at once. */
  rushes: number;
}

async function oneRound(lab: Lab, name: string, side: Side, population: Population, results: Results, size: Size) {
  const draw = dice(size.round);
  const before = side.ledger.faults();
  const stop = await administer(side, population, ADMIN_MS, dice(size.round + 100));
  const rates: string[] = [];
  // a server that has run for a while is what callers meet
  await turn(side, population, 16, 2, draw);
  for (const n of CONCURRENCY) {
    const one = await turn(side, population, n, size.seconds, draw);
    results.turns.get(n)?.push(one);
    rates.push(`${short(one.rate)} with ${n}`);
  }
  await stop();
  const steady = side.ledger.faults();
  const rushed = await rush(side, 2 * size.round * size.rushes, size.rushes, draw);
  const after = side.ledger.faults();
  results.steady.push(less(steady, before));
  results.rushed.push(less(after, steady));
  results.rushes.push(rushed);
  const last = short(rushed.pairs / rushed.seconds);
  lab.say(`  ${name}: ${rates.join(', ')} callers, ${last} pairs/s in groups; ${JSON.stringify(after)}`);
}

/** Each caller is one client after another, anywhere; no one is at two callers at once. */
async function turn(
  side: Side,
  { clients }: Population,
  n: number,
  seconds: number,
  draw: () => number,
): Promise<Turn> {
  const callers = await openCallers(side.url, n);
  const here = new Set<string>();
  let [pairs, empty] = [0, 0];
  const someone = (): string => {
    const uid = uidOf(Math.floor(draw() * clients));
    return here.has(uid) ? someone() : uid;
  };
  const { took, rate } = await repeat(
    callers.map((caller) => async (all) => {
      const uid = someone();
      here.add(uid);
      const start = performance.now();
      const given = await pull(side, caller, uid);
      all.push(performance.now() - start);
      if (given) {
        await complete(side, caller, uid, given.logId);
        pairs++;
      } else empty++;
      here.delete(uid);
      return true;
    }),
    seconds,
  );
  for (const caller of callers) caller.close();
  return { rate: (rate * pairs) / (pairs + empty), took };
}

function write(report: Report, { clients, groups, tasks }: Population, ours: Results, theirs: Results): void {
  const town = `${tasks.length.toLocaleString('en-US')} open tasks, ${clients.toLocaleString('en-US')} clients in ${groups.toLocaleString('en-US')} groups`;
  for (const n of CONCURRENCY) {
    const [a, b] = [ours, theirs].map((side) => {
      const turns = side.turns.get(n) ?? [];
      const p = (q: number) => ms(median(turns.map((t) => quantile(t.took, q))));
      const rate = median(turns.map((t) => t.rate));
      return { rate, figure: `${short(rate)} pairs/s (next p50 ${p(0.5)}, p99 ${p(0.99)})` };
    }) as [{ rate: number; figure: string }, { rate: number; figure: string }];
    const what = `next + complete, ${n} caller${n === 1 ? '' : 's'}; ${town}`;
    report.add({ what, figure: a.figure, rival: `${RIVAL}: ${b.figure}`, ratio: a.rate / b.rate });
  }
  const [a, b] = [ours, theirs].map(({ rushes }) => median(rushes.map((r) => r.pairs / r.seconds))) as [number, number];
  report.add({
    what: 'the same by whole groups, all members at once until nothing is left',
    figure: `${short(a)} pairs/s`,
    rival: `${RIVAL}: ${short(b)} pairs/s`,
    ratio: a / b,
  });
  for (const [what, key] of [
    ['clients from everywhere, with changes meanwhile', 'steady'],
    ['whole groups at once, with changes meanwhile', 'rushed'],
  ] as const) {
    const [mine, other] = [sum(ours[key]), sum(theirs[key])];
    const of = (n: number, { dispatches }: Faults) => `${short(n)} of ${dispatches.toLocaleString('en-US')} dispatches`;
    for (const [fault, name] of FAULTS)
      report.add({
        what: `${what}: ${name}`,
        figure: of(mine[fault], mine),
        rival: `${RIVAL}: ${of(other[fault], other)}`,
      });
  }
}

const FAULTS = [
  ['over', 'more than dispatchTimes'],
  ['stale', 'after the answer to a change that forbids them'],
  ['twice', 'the same task to the same user again'],
  ['atOnce', 'to a user with an unfinished one'],
] as const;

const less = (a: Faults, b: Faults): Faults => ({
  ...{ dispatches: a.dispatches - b.dispatches, over: a.over - b.over },
  ...{ stale: a.stale - b.stale, twice: a.twice - b.twice, atOnce: a.atOnce - b.atOnce },
});

/** @throws when Docket did what must not be, or did something that no caller heard of */
async function mustBeRight(lab: Lab, { ledger }: Side): Promise<void> {
  const { dispatches, ...faults } = ledger.faults();
  if (Object.values(faults).some((n) => n !== 0)) throw new Error(`Docket: ${JSON.stringify(faults)}`);
  const [row] = await lab.sql<{ n: number; least: number; open: number }>(
    `select (select count(*)::integer from lease where kind = 'task') as n, min(capacity) as least,
            (select count(*)::integer from lease where kind = 'task' and ended_at is null) as open
       from item where kind = 'task'`,
  );
  if (row?.n !== dispatches || row.open !== 0 || row.least < 0)
    throw new Error(`${dispatches} dispatches were answered; the database has ${JSON.stringify(row)}`);
}
