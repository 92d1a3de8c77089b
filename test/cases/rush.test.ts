import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addCases, claim, court, jurors, numbered, oneCase, stats, vote } from '../support/cases.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const CASES = 20;
const TO_WIN = 9;

/** 300 jurors at once: each reads what he is given for a moment and votes, until nothing is left to judge. */
async function rush(name: string, overbook: number) {
  await court(api, name, { votesToWin: TO_WIN, overbook });
  const people = numbered(300, `${name}-`);
  await jurors(api, name, people);
  await addCases(
    api,
    name,
    Array.from({ length: CASES }, (_, n) => ({ id: `${name}-${n}`, body: n })),
  );
  let late = 0;
  await Promise.all(
    people.map(async (juror) => {
      for (;;) {
        const { case: given, lease, reasons } = await claim(api, name, juror);
        if (given) {
          await sleep(Math.random() * 100);
          const { status, body } = await vote(api, given.id, lease.token, Math.random() < 0.5 ? 'buyer' : 'seller');
          if (status === 200) expect(body.counted).toBe(true);
          else {
            expect(body).toMatchObject({ status: 409, code: 'not_open', state: 'decided' });
            late++;
          }
        } else if (reasons.none > 0) return;
        else await sleep(150 + Math.random() * 150);
      }
    }),
  );
  const cases = await Promise.all(Array.from({ length: CASES }, (_, n) => oneCase(api, `${name}-${n}`)));
  for (const { state, winner, tally, holds } of cases) {
    expect({ state, holds }).toEqual({ state: 'decided', holds: 0 });
    expect(tally[winner]).toBe(TO_WIN);
    expect(Math.min(tally.buyer, tally.seller)).toBeLessThan(TO_WIN);
  }
  const wasted = cases.reduce((sum, one) => sum + one.wasted, 0);
  expect((await stats(api, name)).wasted).toBe(wasted);
  return { wasted, late };
}

test('S2.5 S2.6 300 jurors rush 20 cases without over-booking: no vote is wasted, none is too many', async () => {
  expect(await rush('exact', 0)).toEqual({ wasted: 0, late: 0 });
}, 180_000);

test('S2.6 with over-booking what is wasted is counted, once each', async () => {
  const { wasted, late } = await rush('over', 5);
  expect(late).toBeGreaterThan(0);
  expect(wasted).toBe(late);
}, 180_000);
