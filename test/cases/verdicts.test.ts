import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidingBy } from '../../domain/courts.ts';
import type { Ballot, Rules, Tally } from '../../domain/deciding.ts';
import { numbered } from '../support/client.ts';
import { csvRows } from '../support/csv.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

const OPTIONS = ['a', 'b', 'c'];
const RULES: Rules = {
  ...{ options: OPTIONS, votesToWin: 1, panel: null, margin: null, probability: null, maxVotes: null, quality: null },
};
const judgeTally = (decide: string, tally: Tally, rules: Rules, stage: number, ballots?: Ballot[]) =>
  decidingBy(decide).judge(tally, rules, stage, ballots);

const plus = (tally: Tally, option: string): Tally => ({ ...tally, [option]: (tally[option] ?? 0) + 1 });
const cast = (tally: Tally) => Object.values(tally).reduce((sum, n) => sum + n, 0);

/** Who has enough votes, and more than anybody else. */
function ahead(tally: Tally, need: number): string | null {
  const best = Math.max(0, ...Object.values(tally));
  const leaders = Object.keys(tally).filter((option) => tally[option] === best);
  return best >= need && leaders.length === 1 ? (leaders[0] ?? null) : null;
}

/** The fewest further votes with which somebody is ahead, found by trying all. */
function fewest(tally: Tally, need: number): number {
  for (let round = [tally], n = 0; ; n++) {
    if (round.some((one) => ahead(one, need) !== null)) return n;
    const next = round.flatMap((one) => OPTIONS.map((option) => plus({ a: 0, b: 0, c: 0, ...one }, option)));
    round = [...new Map(next.map((one) => [JSON.stringify(one), one])).values()];
  }
}

const tallies = fc.record(Object.fromEntries(OPTIONS.map((option) => [option, fc.nat(4)])));
const rules = fc
  .record({ votesToWin: fc.integer({ min: 1, max: 5 }), more: fc.option(fc.nat(4)) })
  .map(({ votesToWin, more }): Rules => ({ ...RULES, votesToWin, panel: more === null ? null : votesToWin + more }));

test('S2.2 S2.8 first-to: nobody wins with fewer than k votes, and votesLeft is the fewest that could decide', () => {
  fc.assert(
    fc.property(tallies, rules, (tally, r) => {
      const winner = ahead(tally, r.votesToWin);
      const votesLeft = fewest(tally, r.votesToWin);
      expect(judgeTally('first-to', tally, r, 0)).toEqual({ winner, votesLeft, stage: 0, hung: false });
    }),
    { numRuns: 300 },
  );
});

test('S2.8 majority: hung exactly when those of the panel who are left can make nobody win', () => {
  fc.assert(
    fc.property(tallies, rules, (tally, r) => {
      const votesLeft = fewest(tally, r.votesToWin);
      const left = (r.panel ?? 2 * r.votesToWin - 1) - cast(tally);
      const found = judgeTally('majority', tally, r, 0);
      expect(found).toMatchObject({ winner: ahead(tally, r.votesToWin), votesLeft });
      if (found.winner === null) expect(found.hung).toBe(votesLeft > left);
    }),
    { numRuns: 300 },
  );
});

test('S2.8 supermajority: whatever the votes, it ends within two panels, with enough votes or with nobody', () => {
  const ballots = fc.array(fc.constantFrom(...OPTIONS), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(ballots, rules, (ballot, r) => {
      const size = r.panel ?? Math.floor(1.5 * r.votesToWin);
      let [tally, stage]: [Tally, number] = [{}, 0];
      for (const option of ballot) {
        const before = judgeTally('supermajority', tally, r, stage);
        tally = plus(tally, option);
        const { winner, votesLeft, hung, stage: next } = judgeTally('supermajority', tally, r, before.stage);
        const need = next === 0 ? r.votesToWin : size + 1;
        const room = (next === 0 ? size : 2 * size) - cast(tally);
        expect({ winner, votesLeft }).toEqual({ winner: ahead(tally, need), votesLeft: fewest(tally, need) });
        expect(next).toBeGreaterThanOrEqual(before.stage);
        if (winner === null) expect(hung).toBe(votesLeft > room);
        if (winner !== null || hung) return;
        stage = next;
      }
      throw new Error('it goes on for ever');
    }),
    { numRuns: 200 },
  );
});

test('S2.8 margin: who leads by m votes wins, votesLeft is the fewest that could, and it hangs when maxVotes leave too few', () => {
  const settings = fc.record({ margin: fc.integer({ min: 1, max: 4 }), more: fc.nat(6) });
  fc.assert(
    fc.property(tallies, settings, (tally, { margin, more }) => {
      const maxVotes = margin + more;
      const [first = 0, second = 0] = Object.values(tally).sort((a, b) => b - a);
      const votesLeft = Math.max(0, margin - (first - second));
      const found = judgeTally('margin', tally, { ...RULES, margin, maxVotes }, 0);
      const hung = votesLeft > 0 && cast(tally) + votesLeft > maxVotes;
      expect(found).toEqual({ winner: votesLeft === 0 ? ahead(tally, 1) : null, votesLeft, stage: 0, hung });
    }),
    { numRuns: 300 },
  );
});

const records = fc.nat(12).chain((judged) => fc.record({ judged: fc.constant(judged), agreed: fc.nat(judged) }));
const ballots = fc.array(fc.tuple(fc.constantFrom(...OPTIONS), records), { maxLength: 9 });
const tallyOf = (votes: Ballot[]) => votes.reduce((tally: Tally, { option }) => plus(tally, option), {});

/** How probable each option is, by the rule of Bayes, where a juror's record gets two of three right added. */
function probabilities(votes: Ballot[]): number[] {
  const likely = OPTIONS.map((truth) =>
    votes.reduce((product, { option, judged, agreed }) => {
      const right = Math.min(0.9, Math.max(1 / OPTIONS.length, (agreed + 2) / (judged + 3)));
      return product * (option === truth ? right : (1 - right) / (OPTIONS.length - 1));
    }, 1),
  );
  return likely.map((one) => one / likely.reduce((sum, n) => sum + n, 0));
}

test('S2.8 posterior: an option wins as soon as it is right with that probability by the voters’ records, and never by one vote', () => {
  fc.assert(
    fc.property(
      ballots,
      fc.double({ min: 0.55, max: 0.99, noNaN: true }),
      fc.integer({ min: 4, max: 12 }),
      (all, p, most) => {
        const votes = all.map(([option, record]) => ({ option, ...record }));
        const rules = { ...RULES, probability: p, maxVotes: most };
        const judged = (some: Ballot[]) => judgeTally('posterior', tallyOf(some), rules, 0, some);
        const { winner, votesLeft, hung } = judged(votes);
        const probable = probabilities(votes);
        const leader = OPTIONS[probable.indexOf(Math.max(...probable))] as string;
        expect(winner).toBe(votes.length > 1 && Math.max(...probable) >= p ? leader : null);
        if (winner !== null) return;
        // as many votes of the best jurors decide it, and one fewer does not
        const further = (n: number) => numbered(n).map(() => ({ option: leader, judged: 1_000, agreed: 1_000 }));
        expect(judged([...votes, ...further(votesLeft)]).winner).toBe(leader);
        expect(judged([...votes, ...further(votesLeft - 1)]).winner).toBeNull();
        expect(hung).toBe(votes.length + votesLeft > most);
      },
    ),
    { numRuns: 500 },
  );
});

const { api } = await startTestSystem({}, { role: 'api' });
const { addCases, claim, oneCase, openCourt, stats, voted, votes } = api.cases;

const ITEMS = byNight(1_000, 150);

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
  expect([people.length, items.size]).toEqual([byNight(83, 61), ITEMS]);
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
