import type { JobCaller, NewJob, Queues } from './rivals/rival.ts';
import { repeat } from './stats.ts';

const FILLERS = 4;
const FILL_BATCH = 500;
const WAIT_SECONDS = 5;
/** Seconds: until nothing is left. */
const LONG = 3_600;
let orders = 0;

export const newJobs = (n: number, delaySeconds = 0): NewJob[] =>
  Array.from({ length: n }, () => {
    const order = ++orders;
    return { id: `order-${order}`, delaySeconds, body: { order, user: 'u1234567', amount: 4200 } };
  });

export const wallClock = () => performance.timeOrigin + performance.now();

export interface Rate {
  jobs: number;
  /** Jobs per second. */
  rate: number;
}

/** Adds as fast as so many callers can, one at a time or in batches. */
export const addRate = (queues: Queues, topic: string, callers: number, batch: number, seconds: number) =>
  timed(queues, callers, seconds, async (caller) => {
    await caller.add(topic, newJobs(batch));
    return batch;
  });

/** Pops and finishes as fast as so many callers can, until the time is over or nothing is left. */
export async function workRate(
  queues: Queues,
  topic: string,
  callers: number,
  batch: number,
  seconds: number,
): Promise<Rate> {
  if (queues.work) {
    const rate = await queues.work(topic, callers, batch, seconds);
    return { rate, jobs: rate * seconds };
  }
  return timed(queues, callers, seconds, async (caller) => {
    const jobs = await caller.take(topic, batch);
    if (jobs.length > 0) await caller.finish(topic, jobs);
    return jobs.length;
  });
}

/** @param step returns how many jobs it did; 0 when there are none left */
async function timed(
  queues: Queues,
  callers: number,
  seconds: number,
  step: (caller: JobCaller) => Promise<number>,
): Promise<Rate> {
  const all = await queues.callers(callers);
  let jobs = 0;
  let steps = 0;
  try {
    const { rate } = await repeat(
      all.map((caller) => async () => {
        const done = await step(caller);
        if (done === 0) return false;
        jobs += done;
        steps++;
        return true;
      }),
      seconds,
    );
    return { jobs, rate: (jobs / steps) * rate };
  } finally {
    for (const caller of all) caller.close();
  }
}

/** Adds so many, with several callers. */
export async function addAll(
  queues: Queues,
  topic: string,
  jobs: number,
  { callers = FILLERS, batch = FILL_BATCH, delaySeconds = 0 } = {},
): Promise<void> {
  const all = await queues.callers(callers);
  let left = jobs;
  const work = async (caller: JobCaller) => {
    while (left > 0) {
      const n = Math.min(batch, left);
      left -= n;
      await caller.add(topic, newJobs(n, delaySeconds));
    }
  };
  await Promise.all(all.map(work));
  for (const caller of all) caller.close();
}

/** Pops and finishes until nothing is left. */
export async function workAll(queues: Queues, topic: string, jobs: number, callers: number, batch: number) {
  if (queues.work) await queues.work(topic, callers, batch, LONG, jobs);
  else await workRate(queues, topic, callers, batch, LONG);
}

/**
 * A server that has run for a while is what callers meet: its code is compiled, its connections are open.
 * Nothing is left over, because telling the workflows of jobs that wait would go on into what is measured.
 */
export async function warmUp(queues: Queues, seconds: number): Promise<void> {
  const topic = `warm-${queues.name.replaceAll(/\W/g, '')}`;
  for (const batch of [1, 100]) {
    await addRate(queues, topic, 16, batch, seconds / 4);
    await workRate(queues, topic, 16, batch, LONG);
  }
}

export interface Consumers {
  /** When a job came, by its order, in milliseconds of the wall clock. */
  got: Map<number, number>;
  stop(): Promise<void>;
}

/** Consumers that wait for jobs and finish them, until they are stopped. */
export async function startConsumers(queues: Queues, topic: string, n: number, batch: number): Promise<Consumers> {
  const got = new Map<number, number>();
  const all = await queues.callers(n);
  let stopped = false;
  const loop = async (caller: JobCaller) => {
    while (!stopped) {
      const jobs = await caller.take(topic, batch, WAIT_SECONDS);
      const now = wallClock();
      for (const { order } of jobs) got.set(order, now);
      if (jobs.length > 0) await caller.finish(topic, jobs);
    }
    caller.close();
  };
  const loops = all.map(loop);
  return {
    got,
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}
