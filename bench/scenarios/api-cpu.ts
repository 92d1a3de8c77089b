import { fileURLToPath } from 'node:url';
import { need, openCallers } from '../client.ts';
import { type Child, cpuSeconds, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { median, ms } from '../stats.ts';
import { round } from './claims.ts';

const QUEUE = 'api-cpu';
const CALLERS = 64;
const ECHO = fileURLToPath(new URL('../bare/echo.mjs', import.meta.url));

/** CPU of the API's process for one call, beside that of a server that echoes the same bodies (scenario 14). */
export async function apiCpu(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [40_000, 3, 3] : [150_000, 5, 5];
  await seedTickets(lab, QUEUE, waiting);
  const docket = await lab.docket();
  const echo = await echoOf(lab, docket.url, QUEUE);
  const [ours, bare]: [number[], number[]] = [[], []];
  try {
    // compiled by then: a server that has run for a while is what callers meet
    for (const server of [docket.api, echo]) await round(server.url, QUEUE, CALLERS, 3);
    for (let done = 0; done < rounds; done++) {
      ours.push(await msPerCall(docket.api, seconds));
      bare.push(await msPerCall(echo, seconds));
      lab.say(`  the API ${ms(ours.at(-1) ?? Number.NaN)} a call, the echo ${ms(bare.at(-1) ?? Number.NaN)}`);
    }
  } finally {
    await docket.stop();
    await echo.stop();
  }
  report.add({
    what: `CPU of one call, claim and decide, ${CALLERS} callers`,
    figure: ms(median(ours)),
    rival: `Hono’s bare echo: ${ms(median(bare))}`,
    ratio: median(ours) / median(bare),
    target: { most: 2.5 },
  });
  report.add({
    what: 'the same, best round of each',
    figure: ms(Math.min(...ours)),
    rival: `Hono’s bare echo: ${ms(Math.min(...bare))}`,
    ratio: Math.min(...ours) / Math.min(...bare),
  });
}

/** A bare server that gives the two answers of a pair to any number of callers. */
export async function echoOf(lab: Lab, url: string, queue: string): Promise<Child> {
  return lab.child(ECHO, [], { ANSWERS: JSON.stringify(await answersOf(url, queue)) });
}

/** A pair's two answers, as a caller gets them. */
async function answersOf(url: string, queue: string) {
  const [caller] = await openCallers(url, 1);
  if (!caller) throw new Error('no caller');
  const claim = need(await caller.post(`/v1/queues/${queue}/claim`, { reviewer: 'first' }), 200);
  const [{ id, lease }] = claim.tickets;
  const decided = { token: lease.token, decision: { verdict: 'keep' } };
  const decide = need(await caller.post(`/v1/tickets/${id}/decide`, decided), 200);
  caller.close();
  return { claim, decide };
}

async function msPerCall({ url, pid }: Child, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  const { took } = await round(url, QUEUE, CALLERS, seconds);
  return ((cpuSeconds(pid) - before) * 1000) / (took.length * 2);
}
