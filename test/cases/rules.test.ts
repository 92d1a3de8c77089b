import { expect, test } from 'vitest';
import {
  addCase,
  addCases,
  claim,
  claimed,
  court,
  insist,
  jurors,
  oneCase,
  stats,
  vote,
  voted,
} from '../support/cases.ts';
import { type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();

const judged = async (name: string, juror: string, option: string): Promise<Json> => {
  const { id, token } = await claimed(api, name, juror);
  return (await voted(api, id, token, option)).case;
};

const dryRun = async (name: string, settings: object): Promise<string[]> =>
  insist(await api.put(`/v1/courts/${name}`, { ...settings, dryRun: true }), 'dry run', 200).wouldDecide;

/** The cases that claims of new jurors lead to, in their order. */
async function order(name: string, n: number, prefix: string): Promise<string[]> {
  await jurors(api, name, numbered(n, prefix));
  const ids = [];
  for (const juror of numbered(n, prefix)) ids.push((await claim(api, name, juror)).case?.id ?? 'nothing');
  return ids;
}

test('S2.8 a dry run says what new rules would decide, and changes nothing; the rules themselves then decide that', async () => {
  const rules = { votesToWin: 4, overbook: 1, strategy: { pick: 'oldest' } };
  const lower = { ...rules, votesToWin: 2 };
  await court(api, 'lower', rules);
  await jurors(api, 'lower', numbered(8));
  await addCase(api, 'lower', { id: 'two' });
  for (const [juror, option] of [['j0', 'buyer'] as const, ['j1', 'buyer'] as const, ['j2', 'seller'] as const])
    await judged('lower', juror, option);
  const reading = await openStream(api, 'juror=j3');
  const held = await claimed(api, 'lower', 'j3');
  expect(held.id).toBe('two');
  await addCase(api, 'lower', { id: 'none' });
  const before = [await oneCase(api, 'two'), await oneCase(api, 'none'), (await api.get('/v1/courts/lower')).body];
  expect(before).toMatchObject([{ votesLeft: 2, holds: 1 }, { votesLeft: 4 }, { votesToWin: 4 }]);
  expect(await dryRun('lower', lower)).toEqual(['two']);
  expect(await dryRun('lower', { ...lower, votesToWin: 3 })).toEqual([]);
  expect(await dryRun('nowhere', lower)).toEqual([]);
  expect((await api.get('/v1/courts/nowhere')).status).toBe(404);
  const after = [await oneCase(api, 'two'), await oneCase(api, 'none'), (await api.get('/v1/courts/lower')).body];
  expect(after).toEqual(before);
  expect(reading.events).toEqual([]);

  await court(api, 'lower', lower);
  const two = { state: 'decided', winner: 'buyer', votesLeft: 0, holds: 0, tally: { buyer: 2, seller: 1 } };
  expect(await oneCase(api, 'two')).toMatchObject(two);
  expect(await oneCase(api, 'none')).toMatchObject({ state: 'open', votesLeft: 2 });
  expect((await reading.first('lease_lost')).data).toMatchObject({ id: 'two', reason: 'decided' });
  expectProblem(await vote(api, 'two', held.token, 'seller'), 'late', 'not_open');
  expect(await stats(api, 'lower')).toMatchObject({ open: 1, decided: 1, votes: 3, wasted: 1 });
  // raised again: what is decided stays decided
  await court(api, 'lower', rules);
  expect(await oneCase(api, 'two')).toMatchObject({ ...two, wasted: 1 });
  expect(await oneCase(api, 'none')).toMatchObject({ state: 'open', votesLeft: 4 });
});

test('S2.8 the strategy changes while cases run: a tie at the new line waits for one vote more', async () => {
  const rules = { votesToWin: 3, strategy: { pick: 'oldest' } };
  await court(api, 'tie', rules);
  await jurors(api, 'tie', numbered(6));
  await addCase(api, 'tie', { id: 'tie-1' });
  for (const [n, option] of ['buyer', 'seller', 'buyer', 'seller'].entries()) await judged('tie', `j${n}`, option);
  const held = await claimed(api, 'tie', 'j4');
  const lower = { ...rules, votesToWin: 2 };
  expect(await dryRun('tie', lower)).toEqual([]);
  await court(api, 'tie', lower);
  expect(await oneCase(api, 'tie-1')).toMatchObject({ state: 'open', votesLeft: 1, holds: 1 });
  await court(api, 'tie', { ...lower, panel: 4, strategy: { ...rules.strategy, decide: 'majority' } });
  // nobody can win in a panel of four any more, and its holder isn't heard
  expect(await oneCase(api, 'tie-1')).toMatchObject({ state: 'hung', winner: null, holds: 0 });
  expectProblem(await vote(api, 'tie-1', held.token, 'buyer'), 'hung', 'not_open');
});

test('S2.5 S2.8 a raised overbook gives room at once, a lowered one takes nothing from who holds', async () => {
  await court(api, 'room', { votesToWin: 1 });
  await jurors(api, 'room', numbered(5));
  await addCase(api, 'room', { id: 'room-1' });
  const first = await claimed(api, 'room', 'j0');
  expect((await claim(api, 'room', 'j1')).reasons).toMatchObject({ noVotesLeft: 1 });
  await court(api, 'room', { votesToWin: 1, overbook: 2 });
  for (const juror of ['j1', 'j2']) expect(await claimed(api, 'room', juror)).toMatchObject({ id: 'room-1' });
  expect((await claim(api, 'room', 'j3')).reasons).toMatchObject({ noVotesLeft: 1 });
  await court(api, 'room', { votesToWin: 1, overbook: 0 });
  expect(await oneCase(api, 'room-1')).toMatchObject({ state: 'open', holds: 3, votesLeft: 1 });
  expect((await claim(api, 'room', 'j4')).reasons).toMatchObject({ noVotesLeft: 1 });
  // more votes to win are more room, too
  await court(api, 'room', { votesToWin: 4 });
  expect(await claimed(api, 'room', 'j4')).toMatchObject({ id: 'room-1' });
  expect(await voted(api, 'room-1', first.token, 'buyer')).toMatchObject({ counted: true, case: { votesLeft: 3 } });
});

test('S2.8 another way to pick counts for the cases that wait already', async () => {
  const ids = numbered(12, 'w');
  const settings = (pick: string) => ({ votesToWin: 1000, strategy: { pick } });
  await court(api, 'picked', settings('random'));
  await addCases(
    api,
    'picked',
    ids.map((id) => ({ id, body: id })),
  );
  const spread = async (prefix: string) => new Set(await order('picked', 20, prefix)).size;
  expect(await spread('a')).toBeGreaterThan(2);
  await court(api, 'picked', settings('oldest'));
  expect(await order('picked', 3, 'b')).toEqual(['w0', 'w0', 'w0']);
  await court(api, 'picked', settings('random'));
  expect(await spread('c')).toBeGreaterThan(2);
  await court(api, 'picked', settings('closest'));
  expect(await order('picked', 2, 'd')).toEqual(['w0', 'w0']);
  await court(api, 'picked', settings('random'));
  expect(await spread('e')).toBeGreaterThan(2);
});

test('S2.10 fatigue: so many votes per person and day, changeable while it runs', async () => {
  const limited = (votesPerDay: number | null) => court(api, 'tired', { votesToWin: 50, votesPerDay });
  await limited(2);
  await jurors(api, 'tired', [{ id: 'one', person: 'p' }, { id: 'two', person: 'p' }, 'fresh']);
  await addCases(
    api,
    'tired',
    numbered(6, 't').map((id) => ({ id, body: id })),
  );
  await judged('tired', 'one', 'buyer');
  await judged('tired', 'two', 'buyer');
  for (const juror of ['one', 'two'])
    expect(await claim(api, 'tired', juror), juror).toMatchObject({ case: null, reasons: { fatigue: 6, none: 0 } });
  await claimed(api, 'tired', 'fresh');
  await limited(3);
  const held = await claimed(api, 'tired', 'two');
  // what he was given he may finish
  await limited(1);
  expect(await claim(api, 'tired', 'one')).toMatchObject({ resumed: true, lease: { token: held.token } });
  expect(await voted(api, held.id, held.token, 'buyer')).toMatchObject({ counted: true });
  expect((await claim(api, 'tired', 'one')).reasons).toMatchObject({ fatigue: 6 });
  await limited(null);
  await claimed(api, 'tired', 'one');
});
