import { setTimeout as sleep } from 'node:timers/promises';
import { openDocket } from '../docket.ts';
import { drained, type Lab } from '../lab.ts';
import { newJobs, startConsumers, wallClock, warmUp } from '../measure.ts';
import type { Report } from '../report.ts';
import { withRivals } from '../rivals/index.ts';
import type { Queues } from '../rivals/rival.ts';
import { figureOf, ms, quantile, short } from '../stats.ts';
import { until } from './steady.ts';

export const PER_SECOND = 200;
const CONSUMERS = 16;
const WARM_SECONDS = 5;

/** From the call that adds a job to the consumer that has it, at a fixed rate (scenario 9). */
export async function endToEnd(lab: Lab, report: Report): Promise<void> {
  const seconds = lab.quick ? 5 : 20;
  const docket = await openDocket(lab);
  let ours: number[];
  try {
    for (const door of [docket.http, docket.tcp]) await warmUp(door, WARM_SECONDS);
    await drained(lab);
    ours = await offered(docket.http, seconds);
    const tcp = await offered(docket.tcp, seconds);
    report.add({ what: `add → received at ${PER_SECOND}/s`, figure: figureOf(ours) });
    report.add({ what: `add → received at ${PER_SECOND}/s, over TCP`, figure: figureOf(tcp) });
  } finally {
    await docket.stop();
  }
  await withRivals(lab, ['pgBoss', 'graphile', 'bullMqAlways', 'beanstalkdFsync'], async (rivals) => {
    for (const rival of rivals) {
      const theirs = await offered(rival, seconds);
      const ratio = quantile(ours, 0.99) / quantile(theirs, 0.99);
      const ahead = ratio > 1 ? `; ahead by ${short(ratio)}×: ${rival.lighter}` : '';
      report.add({
        what: `add → received at ${PER_SECOND}/s, p99`,
        figure: ms(quantile(ours, 0.99)),
        rival: `${rival.name}: ${figureOf(theirs)}${ahead}`,
        ratio,
      });
    }
  });
}

/** Adds at the rate whether or not the queue keeps up. @returns milliseconds from each call to its job's receipt */
export async function offered(queues: Queues, seconds: number, perSecond = PER_SECOND): Promise<number[]> {
  const topic = 'steady';
  const sent = new Map<number, number>();
  const consumers = await consume(queues, topic);
  const free = await queues.callers(8);
  const calls: Promise<void>[] = [];
  const start = performance.now();
  const total = (WARM_SECONDS + seconds) * perSecond;
  for (let n = 0; n < total; n++) {
    await sleep(Math.max(0, start + (n * 1000) / perSecond - performance.now()));
    const caller = free.shift() ?? (await queues.callers(1))[0];
    if (!caller) throw new Error('no caller');
    const jobs = newJobs(1);
    sent.set(jobs[0]?.body.order ?? 0, wallClock());
    calls.push(caller.add(topic, jobs).finally(() => void free.push(caller)));
  }
  await Promise.all(calls);
  await until(async () => consumers.got.size >= total, 60);
  for (const caller of free) caller.close();
  await consumers.stop();
  const all = [...sent].map(([order, at]) => (consumers.got.get(order) ?? Number.NaN) - at);
  return all.slice(WARM_SECONDS * perSecond);
}

async function consume(queues: Queues, topic: string) {
  if (!queues.consume) return startConsumers(queues, topic, CONSUMERS, 1);
  const got = new Map<number, number>();
  const stop = await queues.consume(topic, CONSUMERS, (order) => void got.set(order, wallClock()));
  return { got, stop };
}
