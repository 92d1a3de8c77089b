import { type Caller, need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { BODY, seedTickets } from '../seed.ts';
import { median, ms, quantile } from '../stats.ts';

const CALLERS = 8;
const SHALLOW = 1_000;

/** Whether a claim takes longer where many wait (scenario 2). Both queues are asked in turn by the same callers. */
export async function depth(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, turns] = lab.quick ? [100_000, 2, 100] : [1_000_000, 5, 300];
  await seedTickets(lab, 'deep', waiting);
  await seedTickets(lab, 'thin', SHALLOW);
  const docket = await lab.docket();
  const p: Record<string, number[]> = { deep: [], thin: [] };
  const middle: Record<string, number[]> = { deep: [], thin: [] };
  try {
    for (let done = -1; done < rounds; done++) {
      const callers = await openCallers(docket.url, CALLERS);
      const took: Record<string, number[]> = { deep: [], thin: [] };
      await Promise.all(callers.map((caller, n) => inTurn(caller, `r${n}`, turns, took)));
      for (const caller of callers) caller.close();
      if (done < 0) continue; // the first one warms up
      for (const queue of ['deep', 'thin']) {
        p[queue]?.push(quantile(took[queue] ?? [], 0.99));
        middle[queue]?.push(quantile(took[queue] ?? [], 0.5));
      }
    }
  } finally {
    await docket.stop();
  }
  const of = (all: Record<string, number[]>, queue: string) => median(all[queue] ?? []);
  report.add({
    what: `claim p99 with ${waiting.toLocaleString('en-US')} waiting`,
    figure: `${ms(of(p, 'deep'))} (p50 ${ms(of(middle, 'deep'))})`,
    rival: `with ${SHALLOW.toLocaleString('en-US')} waiting: ${ms(of(p, 'thin'))} (p50 ${ms(of(middle, 'thin'))})`,
    ratio: of(p, 'deep') / of(p, 'thin'),
    target: { most: 1.1 },
  });
}

/** For each ticket taken one is added, so that the queues keep their depth. */
async function inTurn(caller: Caller, reviewer: string, turns: number, took: Record<string, number[]>): Promise<void> {
  for (let turn = 0; turn < turns * 2; turn++) {
    const queue = turn % 2 ? 'deep' : 'thin';
    took[queue]?.push(await oneTurn(caller, queue, reviewer));
  }
}

/** Takes a ticket, decides it and adds one. @returns what the claim took, in ms */
export async function oneTurn(caller: Caller, queue: string, reviewer: string): Promise<number> {
  const start = performance.now();
  const { tickets } = need(await caller.post(`/v1/queues/${queue}/claim`, { reviewer }), 200);
  const took = performance.now() - start;
  const [{ id, lease }] = tickets;
  need(await caller.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 1 }), 200);
  need(await caller.post(`/v1/queues/${queue}/tickets`, { body: BODY }), 201);
  return took;
}
