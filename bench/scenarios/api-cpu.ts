import { fileURLToPath } from 'node:url';
import { need, openCallers } from '../client.ts';
import { type Child, cpuSeconds, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { median, ms } from '../stats.ts';
import { round } from './claims.ts';

const QUEUE = 'api-cpu';
const CALLERS = 64;
const WARM_SECONDS = 3;
const ECHO = fileURLToPath(new URL('../bare/echo.mjs', import.meta.url));

/** CPU of the API's process for one call, beside that of a server that echoes the same bodies (scenario 14). */
export async function apiCpu(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [40_000, 3, 3] : [150_000, 5, 5];
  await seedTickets(lab, QUEUE, waiting);
  const docket = await lab.docket();
  // compiled by then: a server that has run for a while is what callers meet
  const { took } = await round(docket.url, QUEUE, CALLERS, WARM_SECONDS);
  const bare = await echoOf(lab, docket.url, QUEUE);
  const paced = await echoOf(lab, docket.url, QUEUE, median(took));
  const servers = { ours: docket.api, bare, paced };
  const costs: Record<keyof typeof servers, number[]> = { ours: [], bare: [], paced: [] };
  try {
    for (const echo of [bare, paced]) await round(echo.url, QUEUE, CALLERS, WARM_SECONDS);
    for (let done = 0; done < rounds; done++) {
      for (const name of ['ours', 'bare', 'paced'] as const) costs[name].push(await msPerCall(servers[name], seconds));
      const last = Object.values(costs).map((cost) => ms(cost.at(-1) ?? Number.NaN));
      lab.say(`  a call of the API, of the echo, of the one that waits: ${last.join(', ')}`);
    }
  } finally {
    await docket.stop();
    await bare.stop();
    await paced.stop();
  }
  compare(report, costs);
}

function compare(report: Report, { ours, bare, paced }: Record<'ours' | 'bare' | 'paced', number[]>): void {
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
  report.add({
    what: 'the same, beside an echo whose calls wait as long as those of the API',
    figure: ms(median(ours)),
    rival: `the echo that waits: ${ms(median(paced))}`,
    ratio: median(ours) / median(paced),
  });
}

/**
 * A bare server that gives the two answers of a pair to any number of callers.
 * @param pauseMs how long each call waits; 0: not at all
 */
export async function echoOf(lab: Lab, url: string, queue: string, pauseMs = 0): Promise<Child> {
  return lab.child(ECHO, [], { ANSWERS: JSON.stringify(await answersOf(url, queue)), PAUSE_MS: String(pauseMs) });
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
