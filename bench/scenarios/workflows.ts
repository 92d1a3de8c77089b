import { fileURLToPath } from 'node:url';
import { type Caller, need, openCallers } from '../client.ts';
import { cpuSeconds, drained, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { BODY } from '../seed.ts';
import { median, ms, short } from '../stats.ts';
import { closed, until } from './steady.ts';

/** As many signals in flight as a follower sends by default, and callers that don't hold it up. */
const IN_FLIGHT = 16;
const CALLERS = 16;

/**
 * Whole lives per second: added, its workflow started, claimed, published, decided, published, completed, beside a
 * bare workflow that is started, gets two signals and completes (scenario 3). Both go in three waves, and a wave begins
 * when all workflows have received the one before: else one task would take two messages.
 */
export async function workflows(lab: Lab, report: Report): Promise<void> {
  const [each, rounds] = lab.quick ? [150, 2] : [500, 5];
  const docket = await lab.docket({}, { publishIdlePerSecond: 10_000 });
  const bare = await lab.child(fileURLToPath(new URL('../bare/worker.mjs', import.meta.url)), []);
  const ours: number[] = [];
  const theirs: number[] = [];
  // CPU milliseconds a life, by round
  const cpu: Record<'server' | 'worker' | 'bareServer' | 'bareWorker', number[]> = {
    ...{ server: [], worker: [], bareServer: [], bareWorker: [] },
  };
  const spent = async (pids: [number, number], into: [number[], number[]], work: () => Promise<number>) => {
    const before = pids.map(cpuSeconds);
    const rate = await work();
    for (const [n, pid] of pids.entries()) into[n]?.push(((cpuSeconds(pid) - (before[n] ?? 0)) * 1000) / each);
    return rate;
  };
  try {
    for (let round = -1; round < rounds; round++) {
      const [server, worker] = [lab.temporalPid, docket.worker.pid];
      const mine = await spent([server, worker], [cpu.server, cpu.worker], () => lives(lab, docket.url, round, each));
      const other = await spent([server, bare.pid], [cpu.bareServer, cpu.bareWorker], () =>
        bareLives(lab, bare.url, round, each),
      );
      if (round < 0) continue; // the first one warms up
      ours.push(mine);
      theirs.push(other);
      lab.say(`  ${short(mine)} tickets/s, bare ${short(other)}`);
    }
  } finally {
    await Promise.all([docket.stop(), bare.stop()]);
  }
  report.add({
    what: 'workflows settled',
    figure: `${short(median(ours))} tickets/s`,
    rival: `bare workflows: ${short(median(theirs))}/s`,
    ratio: median(ours) / median(theirs),
    target: { least: 1 },
  });
  for (const [what, mine, other] of [
    ['CPU of Temporal’s server, a life', cpu.server, cpu.bareServer],
    ['CPU of the worker, a life', cpu.worker, cpu.bareWorker],
  ] as const) {
    const [m, o] = [median(mine), median(other)];
    report.add({ what, figure: ms(m), rival: `bare: ${ms(o)}`, ratio: m / o });
  }
}

async function lives(lab: Lab, url: string, round: number, each: number): Promise<number> {
  const before = await closed(lab);
  const queue = `lives-${round}`;
  const held: { id: string; token: string }[] = [];
  const start = performance.now();
  const wave = async (one: (caller: Caller, n: number) => Promise<unknown>) => {
    const callers = await openCallers(url, CALLERS);
    let next = 0;
    const work = async (caller: Caller) => {
      for (let n = next++; n < each; n = next++) await one(caller, n);
    };
    await Promise.all(callers.map(work));
    for (const caller of callers) caller.close();
    await drained(lab);
  };
  await wave(async (caller) => need(await caller.post(`/v1/queues/${queue}/tickets`, { body: BODY }), 201));
  await wave(async (caller, n) => {
    const { tickets } = need(await caller.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` }), 200);
    held.push({ id: tickets[0].id, token: tickets[0].lease.token });
  });
  await wave(async (caller, n) => {
    const { id, token } = held[n] ?? { id: '', token: '' };
    need(await caller.post(`/v1/tickets/${id}/decide`, { token, decision: 1 }), 200);
  });
  await until(async () => (await closed(lab)) - before >= each);
  return each / ((performance.now() - start) / 1000);
}

async function bareLives(lab: Lab, url: string, round: number, each: number): Promise<number> {
  const before = await closed(lab, 'bare');
  const { workflow } = lab.client;
  const id = (n: number) => `bare/${round}/${n}`;
  const start = performance.now();
  let all = await received(url);
  const wave = async (one: (n: number) => Promise<unknown>) => {
    let next = 0;
    const work = async () => {
      for (let n = next++; n < each; n = next++) await one(n);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    all += each;
    await until(async () => (await received(url)) >= all);
  };
  await wave((n) => workflow.start('bare', { workflowId: id(n), taskQueue: 'bare', args: [] }));
  await wave((n) => workflow.getHandle(id(n)).signal('next'));
  await wave((n) => workflow.getHandle(id(n)).signal('next'));
  await until(async () => (await closed(lab, 'bare')) - before >= each);
  return each / ((performance.now() - start) / 1000);
}

/** Messages that the bare workflows have received. */
const received = async (url: string) => Number(await (await fetch(url)).text());
