import { expect, test } from 'vitest';
import { insist, type Json, numbered, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { addCase, claim, claimed, court, handed, judge, jurors, oneCase, openCourt, release, stats, vote } = api.cases;
const { voted, votes } = api.cases;
const OPTIONS = ['a', 'b', 'c'];

test('S2.8 a strategy without the settings that it needs, or by which no case could be decided, is refused', async () => {
  const wrong: [string, object][] = [
    ['margin', { strategy: { decide: 'margin' }, maxVotes: 9 }],
    ['maxVotes', { strategy: { decide: 'margin' }, margin: 2 }],
    ['maxVotes', { strategy: { decide: 'margin' }, margin: 5, maxVotes: 4 }],
    ['probability', { strategy: { decide: 'posterior' }, maxVotes: 9 }],
    ['probability', { strategy: { decide: 'posterior' }, probability: 0.5, maxVotes: 9 }],
    ['probability', { strategy: { decide: 'posterior' }, probability: 1, maxVotes: 9 }],
    ['maxVotes', { strategy: { decide: 'posterior' }, probability: 0.95 }],
    ['maxVotes', { strategy: { decide: 'posterior' }, probability: 0.999, maxVotes: 3 }],
  ];
  for (const [path, settings] of wrong) {
    const reply = await api.put('/v1/courts/lacking', settings);
    expectProblem(reply, JSON.stringify(settings), 'invalid_request');
    expect(reply.body.errors[0].path).toBe(path);
  }
  const most = { strategy: { decide: 'posterior' }, probability: 0.999, maxVotes: 4 };
  expect(await court('enough', most)).toMatchObject({ probability: 0.999, maxVotes: 4, margin: null });
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

/** Jurors vote one after the other: the winner after each vote, or the state and how many votes are left. */
async function ballot(name: string, options: string | string[]) {
  const seen = [];
  for (const [n, option] of [...options].entries()) {
    const { state, winner, votesLeft } = await judge(name, `j${n}`, option);
    seen.push(winner === null ? `${state} ${votesLeft}` : `${state} ${winner} ${votesLeft}`);
  }
  return seen.join();
}

test('S2.8 majority: a case in which nobody can win any more hangs with the vote that made it so', async () => {
  const rules = { options: OPTIONS, votesToWin: 3, panel: 5, strategy: { decide: 'majority' } };
  await openCourt('majority', rules, numbered(6), ['m1']);
  expect(await ballot('majority', 'abbac')).toBe('open 2,open 2,open 1,open 1,hung 1');
  expect(await oneCase('m1')).toMatchObject({ decidedAt: null, endReason: 'nobody can win any more', holds: 0 });
  await addCase('majority', { id: 'm2' });
  expect(await ballot('majority', 'abcbb')).toMatch(/,decided b 0$/);
  expect(await stats('majority')).toMatchObject({ decided: 1, hung: 1, completionRate: 0.5, votes: 10 });
});

test('S2.8 supermajority: what the first panel cannot decide, a second one of the same size does', async () => {
  const rules = { options: OPTIONS, votesToWin: 3, panel: 3, strategy: { decide: 'supermajority' } };
  await openCourt('super', rules, numbered(7), ['s1']);
  // one of each: no three of the first three any more, so it needs four of six
  expect(await ballot('super', 'ababaa')).toBe('open 2,open 3,open 2,open 2,open 1,decided a 0');
  await addCase('super', { id: 's2' });
  expect(await ballot('super', 'ababab')).toMatch(/,hung 1$/);
  await addCase('super', { id: 's3' });
  expect(await ballot('super', 'bbb')).toMatch(/,decided b 0$/);
});

test('S2.8 what bounds a strategy may stand in it or beside it', async () => {
  const inside = await api.put('/v1/courts/inside', { strategy: { decide: 'margin', margin: 2, maxVotes: 5 } });
  expect(inside).toMatchObject({ status: 200, body: { margin: 2, maxVotes: 5, strategy: { decide: 'margin' } } });
});

test('S2.8 margin: jurors vote until one side leads by two, and a case in which nobody can any more hangs', async () => {
  const rules = { options: OPTIONS, margin: 2, maxVotes: 6, strategy: { decide: 'margin' } };
  await openCourt('lead', rules, numbered(6), ['l1']);
  expect(await ballot('lead', 'abaa')).toBe('open 1,open 2,open 1,decided a 0');
  await addCase('lead', { id: 'l2' });
  expect(await ballot('lead', 'abbaab')).toMatch(/,open 1,hung 2$/);
  expect(await oneCase('l2')).toMatchObject({ endReason: 'nobody can win any more', tally: { a: 3, b: 3 } });
});

test('S2.8 posterior: jurors who were right on gold decide with two votes what takes five of unknown ones, against any number of bad ones', async () => {
  const rules = { probability: 0.95, maxVotes: 12, strategy: { decide: 'posterior', pick: 'oldest' }, goldShare: 1 };
  const [good, bad] = [numbered(2, 'good'), numbered(4, 'bad')];
  await openCourt('weighed', rules, [...good, ...bad, ...numbered(6)], []);
  const gold = numbered(10, 'known').map((id) => ({ id, body: id, answer: 'buyer' }));
  insist(await api.put('/v1/courts/weighed/gold', { cases: gold }), 'gold', 200);
  for (const juror of [...good, ...bad])
    for (const _ of gold) await judge('weighed', juror, good.includes(juror) ? 'buyer' : 'seller');
  await court('weighed', { ...rules, goldShare: 0 });

  await addCase('weighed', { id: 'w1' });
  const unknown = await ballot('weighed', ['buyer', 'buyer', 'buyer', 'buyer', 'buyer']);
  expect(unknown).toMatch(/^(open \d,){4}decided buyer 0$/);

  await addCase('weighed', { id: 'w2' });
  for (const juror of bad)
    expect(await judge('weighed', juror, 'seller')).toMatchObject({ state: 'open', votesLeft: 2 });
  expect(await judge('weighed', 'good0', 'buyer')).toMatchObject({ state: 'open', votesLeft: 1 });
  const decided = { state: 'decided', winner: 'buyer', tally: { buyer: 2, seller: 4 }, votesLeft: 0 };
  expect(await judge('weighed', 'good1', 'buyer')).toMatchObject(decided);
  expect((await stats('weighed')).wasted).toBe(0);
});

const TAKEN_OR_HUNG = {
  body: expect.toSatisfy(({ counted, state }: Json) => counted === true || state === 'hung'),
};

test.each(['margin', 'posterior'])(
  'S2.5 S2.6 %s: fifty jurors at once end many cases as the votes say, and none votes for nothing',
  async (decide) => {
    const rules = { options: OPTIONS, margin: 3, probability: 0.9, maxVotes: 20, strategy: { decide } };
    await openCourt(decide, rules, numbered(50), numbered(20, `${decide}-`));
    const roll = () => OPTIONS[Math.floor(Math.random() * 3)] as string;
    await Promise.all(
      numbered(50).map(async (juror) => {
        for (let idle = 0; idle < 5; ) {
          const { case: given, lease } = await claim(decide, juror);
          // a case may hang while others read it: nobody could win with their votes
          if (given) expect(await vote(given.id, lease.token, roll())).toMatchObject(TAKEN_OR_HUNG);
          else idle++;
        }
      }),
    );
    const all = await walk(api, `/v1/cases?court=${decide}`, 100);
    const counted = await stats(decide);
    expect([counted.wasted, counted.decided + counted.hung]).toEqual([
      0,
      all.filter(({ state }) => state !== 'open').length,
    ]);
    for (const { id, tally, state } of all) {
      const [first, second, third] = Object.values<number>(tally).sort((one, other) => other - one) as [
        number,
        number,
        number,
      ];
      if (decide === 'margin' && state === 'decided') expect(first - second, id).toBe(3);
      expect(first + second + third, id).toBeLessThanOrEqual(20);
    }
  },
);

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
