import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge as judgeTally, type Rules, type Tally } from '../../domain/courts.ts';
import { numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { addCase, claim, claimed, court, judge, jurors, oneCase, openCourt, release, stats, vote } = api.cases;
const { voted, votes } = api.cases;
const OPTIONS = ['a', 'b', 'c'];

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
  .map(
    ({ votesToWin, more }): Rules => ({ votesToWin, panel: more === null ? null : votesToWin + more, quality: null }),
  );

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

test('S2.8 a name that no strategy has is refused, with those that there are', async () => {
  const wrong = { admit: 'friends', pick: 'newest', decide: 'toString' };
  for (const [what, name] of Object.entries(wrong)) {
    const reply = await api.put('/v1/courts/wrong', { strategy: { [what]: name } });
    expectProblem(reply, what, 'invalid_request');
    expect(reply.body.errors[0].path, what).toBe(`strategy.${what}`);
  }
  expect((await api.get('/v1/courts/wrong')).status).toBe(404);
});

/** Jurors vote one after the other; the case after each vote. */
async function ballot(name: string, options: string[]) {
  const seen = [];
  for (const [n, option] of options.entries()) {
    const after = await judge(name, `j${n}`, option);
    seen.push([after.state, after.winner, after.votesLeft]);
  }
  return seen;
}

test('S2.8 majority: a case in which nobody can win any more hangs with the vote that made it so', async () => {
  await openCourt(
    'majority',
    { options: OPTIONS, votesToWin: 3, panel: 5, strategy: { decide: 'majority' } },
    numbered(6),
    ['m1'],
  );
  expect(await ballot('majority', ['a', 'b', 'b', 'a', 'c'])).toEqual([
    ['open', null, 2],
    ['open', null, 2],
    ['open', null, 1],
    ['open', null, 1],
    ['hung', null, 1],
  ]);
  expect(await oneCase('m1')).toMatchObject({ decidedAt: null, endReason: 'nobody can win any more', holds: 0 });
  await addCase('majority', { id: 'm2' });
  const decided = ['decided', 'b', 0];
  expect((await ballot('majority', ['a', 'b', 'c', 'b', 'b'])).at(-1)).toEqual(decided);
  expect(await stats('majority')).toMatchObject({ decided: 1, hung: 1, completionRate: 0.5, votes: 10 });
});

test('S2.8 supermajority: what the first panel cannot decide, a second one of the same size does', async () => {
  await openCourt('super', { votesToWin: 3, panel: 3, strategy: { decide: 'supermajority' } }, numbered(7), ['s1']);
  // one of each: no three of the first three any more, so it needs four of six
  expect(await ballot('super', ['buyer', 'seller', 'buyer', 'seller', 'buyer', 'buyer'])).toEqual([
    ['open', null, 2],
    ['open', null, 3],
    ['open', null, 2],
    ['open', null, 2],
    ['open', null, 1],
    ['decided', 'buyer', 0],
  ]);
  await addCase('super', { id: 's2' });
  const split = await ballot('super', ['buyer', 'seller', 'buyer', 'seller', 'buyer', 'seller']);
  expect(split.at(-1)).toEqual(['hung', null, 1]);
  await addCase('super', { id: 's3' });
  expect((await ballot('super', ['seller', 'seller', 'seller'])).at(-1)).toEqual(['decided', 'seller', 0]);
});

/** The cases that new jurors are handed one after the other. */
async function handed(name: string, n: number, prefix: string): Promise<string[]> {
  const all = numbered(n, prefix);
  await jurors(name, all);
  const ids = [];
  for (const juror of all) ids.push((await claim(name, juror)).case?.id ?? 'nothing');
  return ids;
}

test('S2.8 pick oldest: in the order of their creation, and what is given back keeps its place', async () => {
  await court('oldest', { votesToWin: 2, strategy: { pick: 'oldest' } });
  for (const id of ['o1', 'o2', 'o3']) await addCase('oldest', { id });
  expect(await handed('oldest', 4, 'a')).toEqual(['o1', 'o1', 'o2', 'o2']);
  const { id, token } = await claimed('oldest', 'a0');
  await release(id, token);
  expect(await handed('oldest', 4, 'b')).toEqual(['o1', 'o3', 'o3', 'nothing']);
});

test('S2.8 pick closest: the case that needs the fewest votes goes first, equal ones by age', async () => {
  await court('closest', { votesToWin: 4, strategy: { pick: 'closest' } });
  for (const id of ['c1', 'c2', 'c3']) await addCase('closest', { id });
  await jurors('closest', numbered(3));
  for (const juror of ['j0', 'j1']) await judge('closest', juror, 'buyer');
  expect((await oneCase('c1')).votesLeft).toBe(2);
  const second = await claimed('closest', 'j0');
  expect(second.id).toBe('c2');
  await voted('c2', second.token, 'seller');
  expect(await handed('closest', 10, 'c')).toEqual([
    ...['c1', 'c1', 'c2', 'c2', 'c2'],
    ...['c3', 'c3', 'c3', 'c3', 'nothing'],
  ]);
});

test('S2.8 pick random: all have their chance, whatever their age', async () => {
  const ids = numbered(20, 'r');
  await court('random', { votesToWin: 100, strategy: { pick: 'random' } });
  for (const id of ids) await addCase('random', { id });
  const seen = await handed('random', 40, 'd');
  // the chance that three quarters of them go out to nobody is far below one in a billion
  expect(new Set(seen).size).toBeGreaterThan(5);
  expect(ids).toEqual(expect.arrayContaining([...new Set(seen)]));
});

test('S2.6 S2.8 lateVotes record: a vote that came too late is kept, does not count and is counted as wasted', async () => {
  await openCourt('recorded', { votesToWin: 1, overbook: 2, lateVotes: 'record' }, numbered(3), ['late-1']);
  const tokens = [];
  for (const juror of numbered(3)) tokens.push((await claimed('recorded', juror)).token);
  const [first = '', second = '', third = ''] = tokens;
  await voted('late-1', first, 'buyer');
  const ended = { state: 'decided', winner: 'buyer', tally: { buyer: 1, seller: 0 }, wasted: 1 };
  for (let n = 0; n < 2; n++)
    expect(await voted('late-1', second, 'seller')).toMatchObject({ counted: false, case: ended });
  expectProblem(await vote('late-1', second, 'buyer'), 'another option', 'not_open');
  expect(await voted('late-1', first, 'buyer')).toMatchObject({ counted: true });
  // the newest first
  expect(await votes('late-1')).toMatchObject([
    { juror: 'j1', option: 'seller', counted: false },
    { juror: 'j0', option: 'buyer', counted: true },
  ]);
  expect(await stats('recorded')).toMatchObject({ votes: 1, wasted: 1, wastedLastHour: 1 });
  await court('recorded', { votesToWin: 1, overbook: 2, lateVotes: 'refuse' });
  expectProblem(await vote('late-1', third, 'seller'), 'refused', 'not_open');
  expect(await oneCase('late-1')).toMatchObject({ wasted: 2 });
  expect(await votes('late-1')).toHaveLength(2);
});
