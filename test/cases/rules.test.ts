import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { addCase, addCases, claim, claimed, court, handed, judge, jurors, oneCase, openCourt, stats, vote } = api.cases;
const { voted } = api.cases;

const dryRun = async (name: string, settings: object): Promise<string[]> =>
  insist(await api.put(`/v1/courts/${name}`, { ...settings, dryRun: true }), 'dry run', 200).wouldDecide;

test('S2.8 a dry run says what new rules would decide, and changes nothing; the rules themselves then decide that', async () => {
  const rules = { votesToWin: 4, overbook: 1, strategy: { pick: 'oldest' } };
  const lower = { ...rules, votesToWin: 2 };
  await openCourt('lower', rules, numbered(8), ['two']);
  for (const [n, option] of ['buyer', 'buyer', 'seller'].entries()) await judge('lower', `j${n}`, option);
  const reading = await openStream(api, 'juror=j3');
  const held = await claimed('lower', 'j3');
  expect(held.id).toBe('two');
  await addCase('lower', { id: 'none' });
  const shown = async () => [await oneCase('two'), await oneCase('none'), (await api.get('/v1/courts/lower')).body];
  const before = await shown();
  expect(before).toMatchObject([{ votesLeft: 2, holds: 1 }, { votesLeft: 4 }, { votesToWin: 4 }]);
  expect(await dryRun('lower', lower)).toEqual(['two']);
  expect(await dryRun('lower', { ...lower, votesToWin: 3 })).toEqual([]);
  expect(await dryRun('nowhere', lower)).toEqual([]);
  expect((await api.get('/v1/courts/nowhere')).status).toBe(404);
  expect(await shown()).toEqual(before);
  expect(reading.events).toEqual([]);

  await court('lower', lower);
  const two = { state: 'decided', winner: 'buyer', votesLeft: 0, holds: 0, tally: { buyer: 2, seller: 1 } };
  expect(await oneCase('two')).toMatchObject(two);
  expect(await oneCase('none')).toMatchObject({ state: 'open', votesLeft: 2 });
  expect((await reading.first('lease_lost')).data).toMatchObject({ id: 'two', reason: 'decided' });
  expectProblem(await vote('two', held.token, 'seller'), 'late', 'not_open');
  expect(await stats('lower')).toMatchObject({ open: 1, decided: 1, votes: 3, wasted: 1 });
  // raised again: what is decided stays decided
  await court('lower', rules);
  expect(await oneCase('two')).toMatchObject({ ...two, wasted: 1 });
  expect(await oneCase('none')).toMatchObject({ state: 'open', votesLeft: 4 });
});

test('S2.8 a raise shows first which open cases it leaves without a decision, those closest to one first, and which it hangs', async () => {
  const rules = { votesToWin: 3, strategy: { pick: 'oldest' } };
  await openCourt('raised', rules, numbered(5), numbered(3, 'raised-'));
  for (const juror of ['j0', 'j1']) await judge('raised', juror, 'buyer');
  await judge('raised', 'j0', 'seller');
  const plan = async (settings: object) =>
    insist(await api.put('/v1/courts/raised', { ...settings, dryRun: true }), 'dry run', 200);
  const raise = (before: number, n: number) => ({ id: `raised-${n}`, votesLeft: { before, after: before + 2 } });
  const none = { wouldDecide: [], wouldHang: [], inUse: [] };
  expect(await plan({ ...rules, votesToWin: 5 })).toEqual({
    ...{ ...none, leavesOpen: [raise(1, 0), raise(2, 1), raise(3, 2)] },
  });
  expect(await plan(rules)).toEqual({ ...none, leavesOpen: [] });
  // one side leads by two votes, so two more are needed; of the others four, which six votes allow
  const wide = { margin: 4, maxVotes: 4, strategy: { decide: 'margin', pick: 'oldest' } };
  expect(await plan(wide)).toMatchObject({
    wouldHang: [],
    leavesOpen: [{ id: 'raised-0' }, { id: 'raised-1' }, { id: 'raised-2' }],
  });
  await judge('raised', 'j2', 'seller');
  expect(await plan(wide)).toMatchObject({
    wouldHang: ['raised-0'],
    leavesOpen: [{ id: 'raised-1' }, { id: 'raised-2' }],
  });
  await court('raised', wide);
  for (const [n, state] of ['hung', 'open', 'open'].entries())
    expect(await oneCase(`raised-${n}`)).toMatchObject({ state });
  // a lower bar decides what a dry run names
  const posterior = { probability: 0.6, maxVotes: 9, strategy: { decide: 'posterior', pick: 'oldest' } };
  expect(await plan(posterior)).toEqual({ ...none, leavesOpen: [] });
  await judge('raised', 'j1', 'seller');
  expect(await plan(posterior)).toEqual({ ...none, wouldDecide: ['raised-1'], leavesOpen: [] });
  await court('raised', posterior);
  expect(await oneCase('raised-1')).toMatchObject({ state: 'decided', winner: 'seller' });
});

test('S2.8 the strategy changes while cases run: a tie at the new line waits for one vote more', async () => {
  const rules = { votesToWin: 3, strategy: { pick: 'oldest' } };
  await openCourt('tie', rules, numbered(6), ['tie-1']);
  for (const [n, option] of ['buyer', 'seller', 'buyer', 'seller'].entries()) await judge('tie', `j${n}`, option);
  const held = await claimed('tie', 'j4');
  const lower = { ...rules, votesToWin: 2 };
  expect(await dryRun('tie', lower)).toEqual([]);
  await court('tie', lower);
  expect(await oneCase('tie-1')).toMatchObject({ state: 'open', votesLeft: 1, holds: 1 });
  await court('tie', { ...lower, panel: 4, strategy: { ...rules.strategy, decide: 'majority' } });
  // nobody can win in a panel of four any more, and its holder isn't heard
  expect(await oneCase('tie-1')).toMatchObject({ state: 'hung', winner: null, holds: 0 });
  expectProblem(await vote('tie-1', held.token, 'buyer'), 'hung', 'not_open');
});

test('S2.5 S2.8 a raised overbook gives room at once, a lowered one takes nothing from who holds', async () => {
  await openCourt('room', { votesToWin: 1 }, numbered(5), ['room-1']);
  const first = await claimed('room', 'j0');
  expect((await claim('room', 'j1')).reasons).toMatchObject({ noVotesLeft: 1 });
  await court('room', { votesToWin: 1, overbook: 2 });
  for (const juror of ['j1', 'j2']) expect(await claimed('room', juror)).toMatchObject({ id: 'room-1' });
  expect((await claim('room', 'j3')).reasons).toMatchObject({ noVotesLeft: 1 });
  await court('room', { votesToWin: 1, overbook: 0 });
  expect(await oneCase('room-1')).toMatchObject({ state: 'open', holds: 3, votesLeft: 1 });
  expect((await claim('room', 'j4')).reasons).toMatchObject({ noVotesLeft: 1 });
  // more votes to win are more room, too
  await court('room', { votesToWin: 4 });
  expect(await claimed('room', 'j4')).toMatchObject({ id: 'room-1' });
  expect(await voted('room-1', first.token, 'buyer')).toMatchObject({ counted: true, case: { votesLeft: 3 } });
});

test('S2.8 another way to pick counts for the cases that wait already', async () => {
  const ids = numbered(12, 'w');
  const settings = (pick: string) => ({ votesToWin: 1000, strategy: { pick } });
  await court('picked', settings('random'));
  await addCases('picked', ids);
  const spread = async (prefix: string) => new Set(await handed('picked', 20, prefix)).size;
  expect(await spread('a')).toBeGreaterThan(2);
  await court('picked', settings('oldest'));
  expect(await handed('picked', 3, 'b')).toEqual(['w0', 'w0', 'w0']);
  await court('picked', settings('random'));
  expect(await spread('c')).toBeGreaterThan(2);
  await court('picked', settings('closest'));
  expect(await handed('picked', 2, 'd')).toEqual(['w0', 'w0']);
  await court('picked', settings('random'));
  expect(await spread('e')).toBeGreaterThan(2);
});

test('S2.8 a pick at random after one of the closest begins anywhere at once', async () => {
  const settings = (pick: string) => ({ votesToWin: 1000, strategy: { pick } });
  const first = async (n: number) => {
    const name = `begins-${n}`;
    await court(name, settings('closest'));
    await addCases(name, numbered(12, `${name}-`));
    await court(name, settings('random'));
    const [id = ''] = await handed(name, 1, `${name}-juror-`);
    return id.slice(name.length);
  };
  const begins = [];
  for (let n = 0; n < 8; n++) begins.push(await first(n));
  expect(new Set(begins).size).toBeGreaterThan(1);
});

test('S2.10 fatigue: so many votes per person and day, changeable while it runs', async () => {
  const limited = (votesPerDay: number | null) => court('tired', { votesToWin: 50, votesPerDay });
  await limited(2);
  await jurors('tired', [{ id: 'one', person: 'p' }, { id: 'two', person: 'p' }, 'fresh']);
  await addCases('tired', numbered(6, 't'));
  await judge('tired', 'one', 'buyer');
  await judge('tired', 'two', 'buyer');
  for (const juror of ['one', 'two'])
    expect(await claim('tired', juror), juror).toMatchObject({ case: null, reasons: { fatigue: 6, none: 0 } });
  await claimed('tired', 'fresh');
  await limited(3);
  const held = await claimed('tired', 'two');
  // what he was given he may finish
  await limited(1);
  expect(await claim('tired', 'one')).toMatchObject({ resumed: true, lease: { token: held.token } });
  expect(await voted(held.id, held.token, 'buyer')).toMatchObject({ counted: true });
  expect((await claim('tired', 'one')).reasons).toMatchObject({ fatigue: 6 });
  await limited(null);
  await claimed('tired', 'one');
});

test('S2.8 new settings of a court with 8,000 open cases are answered soon, and decide first what they can decide', async () => {
  const rules = { votesToWin: 5, strategy: { pick: 'oldest' } };
  await openCourt('large', rules, numbered(3), ['leads-1', 'leads-2']);
  for (const juror of ['j0', 'j1']) for (let n = 0; n < 2; n++) await judge('large', juror, 'buyer');
  const ids = numbered(8_000, 'l');
  const began = performance.now();
  for (let at = 0; at < ids.length; at += 1_000) await addCases('large', ids.slice(at, at + 1_000));
  const addingMs = performance.now() - began;
  await court('large', { ...rules, votesToWin: 2, overbook: 3, deadlineSeconds: 86_400 });
  const tookMs = performance.now() - began - addingMs;
  for (const id of ['leads-1', 'leads-2'])
    expect(await oneCase(id)).toMatchObject({ state: 'decided', winner: 'buyer', tally: { buyer: 2 } });
  // before, each case was a step of its own, which took several times as long as to add it
  expect(tookMs, `they were added in ${addingMs} ms`).toBeLessThan(3 * addingMs);
  const last = await eventually(async () => {
    const found = await oneCase('l7999');
    return found.votesLeft === 2 && found;
  });
  expect(msBetween(last.createdAt, last.deadlineAt)).toBe(86_400_000);
  expect((await claim('large', 'j2')).case).toMatchObject({ id: 'l0', votesLeft: 2, holds: 1 });
}, 180_000);

test('S2.8 settings put twice within a second: nothing is decided by the withdrawn ones', async () => {
  const rules = { votesToWin: 3, strategy: { pick: 'oldest' } };
  const ids = numbered(200, 'twice-');
  await openCourt('twice', rules, numbered(4), ids);
  for (let n = 0; n < ids.length; n++) await judge('twice', 'j0', 'buyer');
  const withdrawn = court('twice', { ...rules, votesToWin: 1 });
  while ((await api.get('/v1/courts/twice')).body.votesToWin !== 1);
  const { updatedAt } = await court('twice', rules);
  await withdrawn;
  const decided = (await walk(api, '/v1/cases?court=twice&state=decided', 100)).map((one: Json) => one.decidedAt);
  expect(decided.filter((at: string) => at > updatedAt)).toEqual([]);
  const open = await walk(api, '/v1/cases?court=twice&state=open', 100);
  for (const one of open) expect(one).toMatchObject({ tally: { buyer: 1 }, votesLeft: 2 });
}, 180_000);

test('S2.8 a vote that comes together with new settings goes by the old ones before they are replaced, or by the new ones', async () => {
  const rules = (votesToWin: number) => ({ votesToWin, strategy: { pick: 'oldest' }, overbook: 10 });
  await court('race', rules(1));
  const ids = numbered(12, 'r');
  await jurors('race', ids);
  for (let round = 0; round < 5; round++) {
    await addCases(
      'race',
      ids.map((id) => `${id}-${round}`),
    );
    const held = await Promise.all(ids.map((juror) => claimed('race', juror)));
    const votes = held.map(({ id, token }) => vote(id, token, 'buyer'));
    const { updatedAt } = await court('race', rules(5));
    for (const { status } of await Promise.all(votes)) expect([200, 409]).toContain(status);
    const { items } = insist(await api.get('/v1/cases?court=race&state=decided&limit=500'), 'cases', 200);
    for (const one of items)
      if (one.tally.buyer < 5) expect(one.decidedAt <= updatedAt, `${one.id} ${one.decidedAt} ${updatedAt}`).toBe(true);
    const open = await walk(api, '/v1/cases?court=race&state=open', 100);
    for (const one of open) await api.post(`/v1/cases/${one.id}/invalidate`, { reason: 'next round' });
    await court('race', rules(1));
  }
});

test('S2.7 S2.8 a deadline that new settings have taken away or put off hangs nothing', async () => {
  await court('put-off', { deadlineSeconds: 3 });
  await addCase('put-off', { id: 'put-off-1' });
  await addCase('put-off', { id: 'put-off-own', deadlineSeconds: 2 });
  await court('put-off', { deadlineSeconds: 3_600 });
  await eventually(async () => (await oneCase('put-off-own')).state === 'hung');
  const { createdAt, deadlineAt } = await oneCase('put-off-1');
  expect(msBetween(createdAt, deadlineAt)).toBe(3_600_000);
  await eventually(async () => Date.now() > Date.parse(createdAt) + 4_000);
  expect(await oneCase('put-off-1')).toMatchObject({ state: 'open' });
});

test('S2.8 an option with votes on open cases cannot be removed: the cases are named, also by a dry run', async () => {
  const rules = { votesToWin: 2, overbook: 100, options: ['a', 'b', 'c'], strategy: { pick: 'oldest' } };
  const without = (option: string) => ({ ...rules, options: rules.options.filter((o) => o !== option) });
  await openCourt('used', rules, numbered(3), numbered(3, 'used-'));
  for (const juror of ['j0', 'j1']) await judge('used', juror, (id) => (id === 'used-0' ? 'a' : 'b'));
  await judge('used', 'j0', 'b');
  expect(await oneCase('used-0')).toMatchObject({ state: 'decided' });
  const put = (settings: object) => api.put('/v1/courts/used', settings);
  const refused = await put(without('b'));
  expectProblem(refused, 'b', 'in_use');
  expect(refused.body.cases).toEqual(['used-1']);
  expect((await put({ ...without('b'), dryRun: true })).body).toMatchObject({ wouldDecide: [], inUse: ['used-1'] });
  expect((await api.get('/v1/courts/used')).body.options).toEqual(rules.options);
  // nobody has voted for c, and the vote for a is on a case that is over
  for (const option of ['c', 'a']) expect(await put(without(option))).toMatchObject({ status: 200 });
  await api.post('/v1/cases/used-1/invalidate', { reason: 'over' });
  expect(await put(without('b'))).toMatchObject({ status: 200 });
});

test('S2.8 fifty votes while their option is removed: they count and it stays, or it goes and none counts', async () => {
  const rules = { votesToWin: 99, options: ['a', 'b', 'c'] };
  await openCourt('torn', rules, numbered(50));
  for (let round = 0; round < 4; round++) {
    const id = `torn-${round}`;
    await court('torn', rules);
    await addCase('torn', { id });
    await api.post(`/v1/cases/${round === 0 ? 'torn' : `torn-${round - 1}`}/invalidate`, { reason: 'next' });
    const held = await Promise.all(numbered(50).map((juror) => claimed('torn', juror)));
    const voting = held.map(({ token }) => vote(id, token, 'c'));
    const removing = api.put('/v1/courts/torn', { ...rules, options: ['a', 'b'] });
    const counted = (await Promise.all(voting)).filter(({ status }) => status === 200).length;
    expect((await oneCase(id)).tally.c ?? 0).toBe(counted);
    expect((await removing).status).toBe(counted > 0 ? 409 : 200);
  }
});
