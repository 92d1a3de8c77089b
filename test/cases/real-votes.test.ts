import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { csvRows } from '../support/csv.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { addCases, claim, oneCase, openCourt, stats, voted, votes } = api.cases;

const ITEMS = byNight(1_000, 400);

/** What each juror says of each item, in the order of the file. */
const said = new Map<string, Map<string, string>>();
const items = new Set<string>();
for (const [item = '', juror = '', answer = ''] of csvRows('votes-binary.csv')) {
  if (items.size === ITEMS && !items.has(item)) continue;
  items.add(item);
  said.set(juror, (said.get(juror) ?? new Map()).set(item, answer));
}
const truth = new Map(csvRows('votes-binary-truth.csv').map(([item, answer]) => [item, answer]));

/** First to three, over these votes in this order; undefined: nobody has won yet. */
function winnerOf(options: string[]): string | undefined {
  const counts: Record<string, number> = {};
  return options.find((option) => {
    counts[option] = (counts[option] ?? 0) + 1;
    return counts[option] === 3;
  });
}

test(`S2.2 real votes on ${ITEMS} items by all who cast them, side by side: all that can be decided is, by no vote too many`, async () => {
  const people = [...said.keys()];
  expect([people.length, items.size]).toEqual([byNight(83, 78), ITEMS]);
  await openCourt('real', { options: ['0', '1'], votesToWin: 3, strategy: { pick: 'oldest' } }, people, []);
  // who said nothing of an item in the file is its party, so that everybody is handed his own, in his order
  const cases = [...items].map((item) => {
    const parties = people.filter((juror) => !said.get(juror)?.has(item)).map((id) => ({ id }));
    return { id: `item-${item}`, body: { item }, parties };
  });
  for (let at = 0; at < cases.length; at += 250) await addCases('real', cases.slice(at, at + 250));

  const order = new Map<string, string[]>();
  await Promise.all(
    people.map(async (juror) => {
      let pause = 250;
      for (;;) {
        const { case: given, lease, reasons } = await claim('real', juror);
        if (given) {
          const { item } = given.body;
          order.set(juror, [...(order.get(juror) ?? []), item]);
          await voted(given.id, lease.token, said.get(juror)?.get(item) ?? '');
          pause = 250;
        } else if (reasons.noVotesLeft === 0) return;
        else {
          await sleep(pause * (0.5 + Math.random()));
          pause = Math.min(4_000, pause * 2);
        }
      }
    }),
  );

  let agreed = 0;
  for (const item of items) {
    const decided = await oneCase(`item-${item}`);
    const cast = await votes(`item-${item}`);
    expect(cast.every((v) => v.counted && said.get(v.juror)?.get(item) === v.option)).toBe(true);
    expect(decided).toMatchObject({ state: 'decided', wasted: 0, winner: winnerOf(cast.map((v) => v.option)) });
    // decided by the last one, which is listed first: without it nobody had won
    expect(winnerOf(cast.slice(1).map((v) => v.option))).toBeUndefined();
    if (decided.winner === truth.get(item)) agreed++;
  }
  for (const [juror, seen] of order) {
    const all = [...(said.get(juror)?.keys() ?? [])];
    // each in the order of the file, unless room came back to an earlier one
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.every((item) => all.includes(item))).toBe(true);
  }
  const { decided, hung, wasted, completionRate } = await stats('real');
  expect({ decided, hung, wasted, completionRate }).toEqual({ decided: ITEMS, hung: 0, wasted: 0, completionRate: 1 });
  process.stdout.write(`agreement with the truth: ${agreed} of ${items.size}\n`);
  expect(agreed).toBeGreaterThan(0.6 * ITEMS);
}, 300_000);
