import { type Caller, need, openCallers } from '../client.ts';
import { drained, type Lab } from '../lab.ts';
import { type Rate, workRate } from '../measure.ts';
import type { Report } from '../report.ts';
import { openPgBoss } from '../rivals/pgboss.ts';
import { seedTickets } from '../seed.ts';
import { median, ms, quantile, repeat, short, type Timed } from '../stats.ts';

const CONCURRENCY = [1, 16, 64];
const SHALLOW = 1_000;
const QUEUES_PER_SECOND = 2;

type PgBoss = Awaited<ReturnType<typeof openPgBoss>>;
let shallows = 0;

/** Claim → decide over HTTP with a million waiting, beside pg-boss's fetch → complete (scenario 1). */
export async function claims(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [100_000, 2, 3] : [1_000_000, 5, 5];
  await seedTickets(lab, 'claims', waiting);
  const rival = await openPgBoss(lab);
  await rival.fill('deep', waiting, waiting);
  const docket = await lab.docket();
  try {
    // a server that has run for a while is what callers meet
    await round(docket.url, 'claims', 64, 5);
    await round(docket.url, 'claims', 1, 3);
    await shallow(rival, 16, 3);
    for (const n of CONCURRENCY) {
      const rates = { ours: [] as Timed[], short: [] as Rate[], deep: [] as Rate[] };
      for (let done = 0; done < rounds; done++) {
        rates.ours.push(await round(docket.url, 'claims', n, seconds));
        const told = await drained(lab);
        rates.short.push(await shallow(rival, n, seconds));
        rates.deep.push(await workRate(rival, 'deep', n, 1, seconds));
        const [a, b, c] = [rates.ours, rates.short, rates.deep].map((r) => short(r.at(-1)?.rate ?? Number.NaN));
        lab.say(
          `  ${n} callers: ${a} pairs/s (told after ${short(told)} s), pg-boss ${b} from short queues, ${c} from the deep one`,
        );
      }
      add(report, n, waiting, rates);
    }
  } finally {
    await docket.stop();
    await rival.stop();
  }
}

function add(
  report: Report,
  n: number,
  waiting: number,
  { ours, ...theirs }: { ours: Timed[]; short: Rate[]; deep: Rate[] },
): void {
  const rate = (all: { rate: number }[]) => median(all.map((t) => t.rate));
  const p = (all: Timed[], q: number) => ms(median(all.map((t) => quantile(t.took, q))));
  const what = `claim → decide, ${n} caller${n === 1 ? '' : 's'}`;
  const figure = `${short(rate(ours))} pairs/s (claim p50 ${p(ours, 0.5)}, p99 ${p(ours, 0.99)})`;
  const beside = (all: Rate[], jobs: number) => ({
    rival: `pg-boss with ${jobs === SHALLOW ? 'at most ' : ''}${jobs.toLocaleString('en-US')} queued: ${short(rate(all))}/s`,
    ratio: rate(ours) / rate(all),
  });
  const target = { least: n === 64 ? 2.5 : 1 };
  report.add({ what, figure, ...beside(theirs.deep, waiting), target });
  report.add({ what: `${what}, the rival at its best`, figure, ...beside(theirs.short, SHALLOW), target });
}

/** pg-boss sorts what is queued at each fetch; this is its best case. */
async function shallow(rival: PgBoss, callers: number, seconds: number): Promise<Rate> {
  const topic = `shallow-${++shallows}`;
  await rival.fill(topic, QUEUES_PER_SECOND * seconds * SHALLOW, SHALLOW);
  return workRate(rival, topic, callers, 1, seconds);
}

/** Pairs by `n` callers, on fresh connections: the server closes idle ones. `took` has each claim. */
export async function round(url: string, queue: string, n: number, seconds: number): Promise<Timed> {
  const callers = await openCallers(url, n);
  const timed = await pairs(callers, queue, seconds);
  for (const caller of callers) caller.close();
  return timed;
}

function pairs(callers: Caller[], queue: string, seconds: number): Promise<Timed> {
  return repeat(
    callers.map((caller, n) => async (took) => {
      const start = performance.now();
      const { tickets } = need(await caller.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` }), 200);
      took.push(performance.now() - start);
      const [ticket] = tickets;
      if (!ticket) return false;
      const decision = { verdict: 'keep' };
      need(await caller.post(`/v1/tickets/${ticket.id}/decide`, { token: ticket.lease.token, decision }), 200);
      return true;
    }),
    seconds,
  );
}
