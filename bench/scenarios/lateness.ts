import { setTimeout as sleep } from 'node:timers/promises';
import { openDocket } from '../docket.ts';
import { drained, type Lab } from '../lab.ts';
import { addAll, newJobs, startConsumers, wallClock, warmUp } from '../measure.ts';
import type { Report } from '../report.ts';
import { withRivals } from '../rivals/index.ts';
import { type JobCaller, type NewJob, type Queues, settle } from '../rivals/rival.ts';
import { seedJobs } from '../seed.ts';
import { median, ms, quantile, short } from '../stats.ts';
import { until } from './steady.ts';

const TOPIC = 'late';
const CALLERS = 16;
const BATCH = 100;
/** For the jobs that only wait: far beyond the end of the run. */
const MUCH_LATER = 36_000;
const CONSUMERS_AHEAD_MS = 2_000;
const WARM_SECONDS = 8;
const MOST_MS = { byClock: 100, received: 600 };

/** Jobs that fall due within one second while many more wait in the same topic (scenario 8). */
export async function lateness(lab: Lab, report: Report): Promise<void> {
  const [due, waiting] = lab.quick ? [2_000, 20_000] : [10_000, 100_000];
  const [startsPerSecond, putsPerSecond] = lab.quick ? [40, 200] : [60, 400];
  const what = `${due.toLocaleString('en-US')} jobs due in one second`;
  const { byClock, received, delayKnown, span } = await ours(lab, due, waiting, 20 + due / startsPerSecond);
  const line = (name: string, late: number[], most: number) => ({
    what: `${what}, ${name}`,
    figure: figureOf(late),
    measured: { value: quantile(late, 0.99), unit: 'ms' },
    target: { most },
  });
  report.add(line('by the database’s clock', byClock, MOST_MS.byClock));
  report.add(line('as consumers received them', received, MOST_MS.received));
  report.add({
    what: 'their workflows',
    figure: `all received the delay ${short(delayKnown)} s after the last was added; the jobs fell due within ${short(span)} s`,
  });
  await withRivals(lab, ['beanstalkdFsync', 'pgBoss'], async (rivals) => {
    for (const rival of rivals) {
      await addAll(rival, TOPIC, waiting, { delaySeconds: MUCH_LATER });
      await settle(rival);
      const { due: times, got } = await oneSecond(rival, due, 10 + due / putsPerSecond);
      const theirs = [...times].map(([order, at]) => (got.get(order) ?? Number.NaN) - at);
      report.add({
        what: `${what}, p99 as received`,
        figure: ms(quantile(received, 0.99)),
        rival: `${rival.name}: ${figureOf(theirs)}`,
        ratio: quantile(received, 0.99) / quantile(theirs, 0.99),
      });
    }
  });
}

async function ours(lab: Lab, due: number, waiting: number, aheadSeconds: number) {
  await seedJobs(lab, TOPIC, waiting, MUCH_LATER);
  const docket = await openDocket(lab);
  try {
    await warmUp(docket.http, WARM_SECONDS);
    await drained(lab);
    let delayKnown = 0;
    const { got } = await oneSecond(docket.http, due, aheadSeconds, async () => {
      delayKnown = await drained(lab);
    });
    // a delay counts from the add's own statement, so the row says when it was over; a pop may come before the clock
    const rows = await lab.sql<{ order: number; due: number; late: number }>(
      `select (i.body->>'order')::integer as order, extract(epoch from i.available_at)::double precision * 1000 as due,
              extract(epoch from e.at - i.available_at)::double precision * 1000 as late
         from item i cross join lateral (
                select min(at) as at from event where kind = i.kind and item_id = i.id and type in ('available', 'reserved')) e
        where i.kind = 'job' and i.queue = $1 and e.at is not null`,
      [TOPIC],
    );
    const received = rows.map((row) => (got.get(row.order) ?? Number.NaN) - row.due);
    const byClock = rows.map((row) => row.late);
    if (rows.length !== due || Math.min(...byClock) < 0) throw new Error('a job was early, or was not handed out');
    const at = rows.map((row) => row.due);
    return { byClock, received, delayKnown, span: (Math.max(...at) - Math.min(...at)) / 1000 };
  } finally {
    await docket.stop();
  }
}

/**
 * Adds jobs that fall due evenly within the one second that begins so long from now, and receives them.
 * @returns when each was due, as far as its add tells, and when it came, by its order
 */
async function oneSecond(queues: Queues, n: number, aheadSeconds: number, added: () => Promise<void> = async () => {}) {
  const start = wallClock() + aheadSeconds * 1000;
  const due = new Map<number, number>();
  const callers = await queues.callers(CALLERS);
  // where delays are whole seconds each job goes by itself: its due time is that many seconds after the answer
  const batch = queues.wholeSeconds ? 1 : BATCH;
  let next = 0;
  const add = async (caller: JobCaller) => {
    while (next < n) {
      const from = next;
      next += batch;
      const now = wallClock();
      const jobs = newJobs(Math.min(batch, n - from)).map((job, i) => {
        const delay = (start + ((from + i) / n) * 1000 - now) / 1000;
        return { ...job, delaySeconds: queues.wholeSeconds ? Math.ceil((start - now) / 1000) : delay };
      });
      await caller.add(TOPIC, jobs);
      const counted = queues.wholeSeconds ? wallClock() : now;
      for (const { body, delaySeconds } of jobs as NewJob[]) due.set(body.order, counted + delaySeconds * 1000);
    }
    caller.close();
  };
  await Promise.all(callers.map(add));
  await added();
  const left = start - CONSUMERS_AHEAD_MS - wallClock();
  if (left < 0) throw new Error(`${queues.name} took ${short(-left / 1000)} s too long to add ${n} jobs`);
  await sleep(left);
  const consumers = await startConsumers(queues, TOPIC, CALLERS, BATCH);
  await until(async () => consumers.got.size >= n, 120);
  await consumers.stop();
  return { due, got: consumers.got };
}

const figureOf = (late: number[]) =>
  `late by p50 ${ms(median(late))}, p99 ${ms(quantile(late, 0.99))}, at most ${ms(Math.max(...late))}`;
