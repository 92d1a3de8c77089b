import { need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { median, short } from '../stats.ts';
import { beatRound, tickets } from './beats.ts';
import { round } from './claims.ts';

const CONCURRENCY = [1, 16, 64];
const LEAST = 0.9;
/** What is on, by the settings of a queue. */
const CHECKS: Record<string, object> = {
  'a tenth gets a second look': { second: { share: 0.1 } },
  'suggestions are shown': { assist: { mode: 'suggest', minConfidence: 1, share: 0 } },
  'only registered people, with quotas': { registered: true, categoryFrom: '/category' },
};

const QUOTAS = { perDay: 1_000_000, exposure: { violence: 1_000_000 } };

/** The beat of a reviewer whose work is checked, beside the same in a queue without it. */
export async function checked(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [60_000, 2, 2] : [250_000, 5, 4];
  const queues = Object.entries(CHECKS).map(([what, settings], n) => ({ what, settings, queue: `checked-${n}` }));
  for (const queue of ['unchecked', ...queues.map(({ queue }) => queue)]) await seedTickets(lab, queue, waiting);
  const docket = await lab.docket();
  try {
    const [caller] = await openCallers(docket.url, 1);
    // while nobody is registered, no claim looks into the register
    const register = async (is: boolean) => {
      for (let n = 0; n < Math.max(...CONCURRENCY); n++)
        await (is ? caller?.put(`/v1/reviewers/r${n}`, QUOTAS) : caller?.delete(`/v1/reviewers/r${n}`));
    };
    for (const { queue, settings } of queues)
      need((await caller?.put(`/v1/queues/${queue}`, settings)) ?? { status: 0, body: null }, 200);
    await round(docket.url, 'unchecked', 64, 5);
    for (const n of CONCURRENCY) {
      const rate = async (queue: string) => (await beatRound(docket.url, tickets(queue), n, seconds)).rate;
      const off: number[] = [];
      const on = queues.map((): number[] => []);
      for (let done = 0; done < rounds; done++) {
        off.push(await rate('unchecked'));
        for (const [at, { queue, settings }] of queues.entries()) {
          if ('registered' in settings) await register(true);
          on[at]?.push(await rate(queue));
          if ('registered' in settings) await register(false);
        }
      }
      for (const [at, { what }] of queues.entries())
        report.add({
          what: `decide with next, ${what}, ${n} caller${n === 1 ? '' : 's'}`,
          figure: `${short(median(on[at] ?? []))}/s`,
          rival: `without: ${short(median(off))}/s`,
          ratio: median((on[at] ?? []).map((rate, r) => rate / (off[r] ?? Number.NaN))),
          target: { least: LEAST },
        });
    }
    caller?.close();
  } finally {
    await docket.stop();
  }
}
