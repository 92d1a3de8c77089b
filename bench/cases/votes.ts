import { need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { median, ms, quantile, repeat, short } from '../stats.ts';
import { bring, makeCourt, numbered, opinion, putList } from './court.ts';

const CALLERS = 32;
const COURT = 'busy';
const ROUNDS = 3;

/** Claim + vote as fast as it goes, each caller for one juror who judges one case after the other. */
export async function votes(lab: Lab, report: Report, url: string): Promise<void> {
  const [cases, seconds] = lab.quick ? [500, 1] : [5_000, 5];
  const callers = await openCallers(url, CALLERS);
  const [first] = callers;
  if (!first) return;
  await makeCourt(first, COURT, { votesToWin: 9, strategy: { pick: 'oldest' }, goldShare: 0 });
  await putList(first, COURT, numbered(CALLERS, 'busy-'));
  await bring(first, COURT, numbered(cases, 'busy-case-'));
  const rates: number[] = [];
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const turn = await repeat(
      callers.map((caller, n) => async (all) => {
        const start = performance.now();
        const { case: found, lease } = need(
          await caller.post(`/v1/courts/${COURT}/claim`, { juror: `busy-${n}` }),
          200,
        );
        if (!found) return false;
        const vote = { token: lease.token, option: opinion(found.id, Math.random()) };
        need(await caller.post(`/v1/cases/${found.id}/votes`, vote), 200);
        all.push(performance.now() - start);
        return true;
      }),
      seconds,
    );
    rates.push(turn.rate);
    took.push(...turn.took);
  }
  for (const caller of callers) caller.close();
  report.add({
    what: `${CALLERS} callers: claim + vote, nine votes win, ${cases.toLocaleString('en-US')} cases`,
    figure: `${short(median(rates))} pairs/s (a pair p50 ${ms(quantile(took, 0.5))}, p99 ${ms(quantile(took, 0.99))})`,
  });
}
