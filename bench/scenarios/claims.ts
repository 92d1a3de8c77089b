import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import { type Rate, workRate } from '../measure.ts';
import type { Report } from '../report.ts';
import { openPgBoss, PG_BOSS } from '../rivals/pgboss.ts';
import { addTickets, seedTickets } from '../seed.ts';
import { median, ms, quantile, repeat, short, type Timed } from '../stats.ts';

const CONCURRENCY = [1, 16, 64];
const SHALLOW = 1_000;
const QUEUES_PER_SECOND = 2;
const PACED_PER_SECOND = 20;
const QUEUE = 'claims';
const BESIDE_FRESH: Record<number, number> = { 1: 0.8, 16: 1.5, 64: 2.5 };
const AT_ITS_BEST: Record<number, number> = { 1: 0.5, 16: 1.2, 64: 1.8 };

type PgBoss = Awaited<ReturnType<typeof openPgBoss>>;
interface Rates {
  ours: Timed[];
  short: Rate[];
  deep: Rate[];
}
let shallows = 0;

/** Claim → decide over HTTP with a million waiting, beside pg-boss's fetch → complete (scenario 1). */
export async function claims(lab: Lab, report: Report): Promise<void> {
  const [waiting, fresh, rounds, seconds] = lab.quick ? [100_000, 40_000, 3, 3] : [1_000_000, 200_000, 5, 5];
  await seedTickets(lab, QUEUE, waiting);
  const rival = await openPgBoss(lab);
  await rival.fill('deep', waiting, waiting);
  const docket = await lab.docket();
  try {
    // a server that has run for a while is what callers meet
    await round(docket.url, QUEUE, 64, 5);
    await round(docket.url, QUEUE, 1, 3);
    const atBest = new Map<number, number>();
    for (const n of CONCURRENCY) {
      const rates: Rates = { ours: [], short: [], deep: [] };
      for (let done = 0; done < rounds; done++) {
        rates.ours.push(await round(docket.url, QUEUE, n, seconds));
        await docket.aside(async () => {
          rates.short.push(await shallow(rival, n, seconds));
          rates.deep.push(await workRate(rival, 'deep', n, 1, seconds));
        });
        const [a, b, c] = [rates.ours, rates.short, rates.deep].map((r) => short(r.at(-1)?.rate ?? Number.NaN));
        lab.say(`  ${n} callers: ${a} pairs/s, ${PG_BOSS} ${b} from short queues, ${c} from the deep one`);
      }
      add(report, n, waiting, rates);
      atBest.set(n, rateOf(rates.short));
    }
    await addTickets(lab, 'fresh', fresh);
    await besideFresh(docket.url, report, { fresh, rounds, seconds, atBest });
  } finally {
    await docket.stop();
    await rival.stop();
  }
}

/** The same while the workflows of many tickets that have just been added are started. */
async function besideFresh(
  url: string,
  report: Report,
  o: { fresh: number; rounds: number; seconds: number; atBest: Map<number, number> },
): Promise<void> {
  const meanwhile = `while ${o.fresh.toLocaleString('en-US')} fresh tickets get their workflows`;
  const { took } = await paced(url, o.seconds * 4);
  report.add({
    what: `one caller at ${PACED_PER_SECOND} pairs/s ${meanwhile}: a call`,
    figure: `p50 ${ms(quantile(took, 0.5))}, p99 ${ms(quantile(took, 0.99))}`,
    measured: { value: quantile(took, 0.99), unit: 'ms' },
    target: { most: 8 },
  });
  for (const n of CONCURRENCY) {
    const rates: Timed[] = [];
    for (let done = 0; done < o.rounds; done++) rates.push(await round(url, QUEUE, n, o.seconds));
    const beside = o.atBest.get(n) ?? Number.NaN;
    report.add({
      what: `${whatOf(n)}, ${meanwhile}`,
      figure: figureOf(rates),
      rival: `${PG_BOSS}, nothing beside it, at most ${SHALLOW.toLocaleString('en-US')} queued: ${short(beside)}/s`,
      ratio: rateOf(rates) / beside,
      target: { least: BESIDE_FRESH[n] ?? 1 },
    });
  }
}

const rateOf = (all: { rate: number }[]) => median(all.map((t) => t.rate));
const whatOf = (n: number) => `claim → decide, ${n} caller${n === 1 ? '' : 's'}`;

function figureOf(all: Timed[]): string {
  const p = (q: number) => ms(median(all.map((t) => quantile(t.took, q))));
  return `${short(rateOf(all))} pairs/s (claim p50 ${p(0.5)}, p99 ${p(0.99)})`;
}

function add(report: Report, n: number, waiting: number, { ours, ...theirs }: Rates): void {
  const [what, figure] = [whatOf(n), figureOf(ours)];
  const beside = (all: Rate[], jobs: number) => ({
    rival: `${PG_BOSS} with ${jobs === SHALLOW ? 'at most ' : ''}${jobs.toLocaleString('en-US')} queued: ${short(rateOf(all))}/s`,
    // of each round by itself: machines are not equally fast for long
    ratio: median(ours.map((t, round) => t.rate / (all[round]?.rate ?? Number.NaN))),
    target: { least: AT_ITS_BEST[n] ?? 1 },
  });
  report.add({ what, figure, ...beside(theirs.deep, waiting) });
  report.add({ what: `${what}, the rival at its best`, figure, ...beside(theirs.short, SHALLOW) });
}

/** Pairs by `n` callers of pg-boss at its best: each fetch sorts what its queue has, so new, short queues come one after the other. */
export async function shallow(rival: PgBoss, n: number, seconds: number): Promise<Rate> {
  const topic = `shallow-${++shallows}`;
  await rival.fill(topic, QUEUES_PER_SECOND * seconds * SHALLOW, SHALLOW);
  return workRate(rival, topic, n, 1, seconds);
}

/** Pairs by `n` callers, on fresh connections: the server closes idle ones. `took` has each claim. */
export async function round(url: string, queue: string, n: number, seconds: number): Promise<Timed> {
  const callers = await openCallers(url, n);
  const timed = await pairs(callers, queue, seconds);
  for (const caller of callers) caller.close();
  return timed;
}

const pairs = (callers: Caller[], queue: string, seconds: number): Promise<Timed> =>
  repeat(
    callers.map((caller, n) => async (took) => {
      const start = performance.now();
      const ticket = await claim(caller, queue, n);
      took.push(performance.now() - start);
      if (!ticket) return false;
      await decide(caller, ticket);
      return true;
    }),
    seconds,
  );

/** One caller who makes pairs at a steady rate; `took` has each call. */
async function paced(url: string, seconds: number): Promise<Timed> {
  const [caller] = await openCallers(url, 1);
  if (!caller) throw new Error('no caller');
  const took: number[] = [];
  const start = performance.now();
  const pairsDue = seconds * PACED_PER_SECOND;
  for (let n = 0; n < pairsDue; n++) {
    await sleep(Math.max(0, start + (n * 1000) / PACED_PER_SECOND - performance.now()));
    const [from, ticket] = [performance.now(), await claim(caller, QUEUE, 0)];
    const between = performance.now();
    await decide(caller, ticket);
    took.push(between - from, performance.now() - between);
  }
  caller.close();
  return { rate: pairsDue / ((performance.now() - start) / 1000), took };
}

async function claim(caller: Caller, queue: string, n: number) {
  const { tickets } = need(await caller.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` }), 200);
  return tickets[0];
}

const decide = async (caller: Caller, ticket: { id: string; lease: { token: string } }) => {
  const decision = { verdict: 'keep' };
  return need(await caller.post(`/v1/tickets/${ticket.id}/decide`, { token: ticket.lease.token, decision }), 200);
};
