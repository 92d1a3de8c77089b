import { expect, test } from 'vitest';
import { createKey } from '../../api/auth.ts';
import {
  addCase,
  addCases,
  claim,
  claimed,
  court,
  insist,
  jurors,
  numbered,
  oneCase,
  stats,
  vote,
  voted,
} from '../support/cases.ts';
import type { Json } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();

const putGold = async (name: string, answers: Record<string, string>) =>
  insist(
    await api.put(`/v1/courts/${name}/gold`, {
      cases: Object.entries(answers).map(([id, answer]) => ({ id, body: `about ${id}`, answer })),
    }),
    'gold',
    200,
  );

/** One claim and one vote, by what `answer` says of the case's id. */
async function judged(name: string, juror: string, answer: (id: string) => string): Promise<string> {
  const { id, token } = await claimed(api, name, juror);
  await voted(api, id, token, answer(id));
  return id;
}

const hidden = ['id', 'body', 'version', 'createdAt'];
/** All that a juror sees of a case but what differs from one to the next. */
const shape = (seen: Json) => Object.fromEntries(Object.entries(seen).filter(([name]) => !hidden.includes(name)));

test('S2.8 gold looks like any other case to its juror, before the vote, in its answer and after it', async () => {
  const key = await createKey(running.engine.db, { name: 'j0', role: 'reviewer', subject: 'j0' });
  const juror = api.as(key.key);
  const seen: Record<string, Json[]> = {};
  for (const name of ['plain', 'hidden']) {
    await court(api, name, { votesToWin: 3, goldShare: 1, lateVotes: 'record' });
    await jurors(api, name, ['j0']);
    if (name === 'plain') await addCase(api, name, { id: 'plain-1' });
    else expect(await putGold(name, { 'hidden-1': 'seller' })).toEqual({ total: 1 });
    const id = `${name}-1`;
    const first = insist(await juror.post(`/v1/courts/${name}/claim`, {}), 'claim', 200);
    expect(first.case.id).toBe(id);
    const got = [first.case, await oneCase(juror, id)];
    const { counted, case: after } = await voted(juror, id, first.lease.token, 'buyer');
    expect(counted).toBe(true);
    got.push(after, await oneCase(juror, id));
    const again = await voted(juror, id, first.lease.token, 'buyer');
    seen[name] = [...got, again.case].map((one) => ({ ...shape(one), court: 'either' }));
    expect((await claim(juror, name, 'j0')).case, 'one vote a person').toBeNull();
  }
  expect(seen.hidden).toEqual(seen.plain);
  expect(seen.plain?.[2]).toMatchObject({ state: 'open', tally: { buyer: 1, seller: 0 }, votesLeft: 2 });
});

test('S2.8 gold is never decided, whatever its votes and the rules, and in no list and no statistics', async () => {
  const rules = { votesToWin: 2, goldShare: 1, strategy: { pick: 'oldest' } };
  await court(api, 'counted', rules);
  await jurors(api, 'counted', numbered(5));
  await putGold('counted', { g1: 'buyer' });
  await addCase(api, 'counted', { id: 'real-1' });
  for (const juror of numbered(5)) expect(await judged('counted', juror, () => 'buyer')).toBe('g1');
  const nothing = {
    open: 1,
    decided: 0,
    hung: 0,
    invalidated: 0,
    votes: 0,
    votesLastHour: 0,
    kappa: null,
    alpha: null,
  };
  expect(await stats(api, 'counted')).toMatchObject(nothing);
  for (const votesToWin of [1, 3]) {
    const changed = { ...rules, votesToWin };
    expect(await api.put('/v1/courts/counted', { ...changed, dryRun: true })).toMatchObject({
      body: { wouldDecide: [] },
    });
    await court(api, 'counted', changed);
    expect(await oneCase(api, 'g1')).toMatchObject({ state: 'open', winner: null });
  }
  const { body } = await api.get('/v1/cases?court=counted');
  expect(body.items.map((one: Json) => one.id)).toEqual(['real-1']);
  for (const juror of numbered(3)) await judged('counted', juror, () => 'seller');
  expect(await stats(api, 'counted')).toMatchObject({ open: 0, decided: 1, votes: 3, completionRate: 1 });
  // taken away, it is still in none of them
  await putGold('counted', {});
  expect(await stats(api, 'counted')).toMatchObject({ open: 0, decided: 1, invalidated: 0, votes: 3 });
});

test('S2.8 who answers gold wrong falls below the bar with all his accounts, who answers it right does not', async () => {
  await court(api, 'bar', { votesToWin: 50, goldShare: 1, quality: { agreement: 0.6, after: 3 } });
  await jurors(api, 'bar', ['good', { id: 'bad', person: 'p-bad' }, { id: 'bad-2', person: 'p-bad' }]);
  await putGold('bar', { b1: 'buyer', b2: 'seller', b3: 'buyer' });
  await addCase(api, 'bar', { id: 'bar-real' });
  const right = (id: string) => (id === 'b2' ? 'seller' : 'buyer');
  for (let n = 0; n < 3; n++) {
    expect(['b1', 'b2', 'b3']).toContain(await judged('bar', 'good', right));
    // one of three right is too few, but not before there are three
    const answer = n === 0 ? right : (id: string) => (right(id) === 'buyer' ? 'seller' : 'buyer');
    expect(['b1', 'b2', 'b3']).toContain(await judged('bar', n === 1 ? 'bad-2' : 'bad', answer));
  }
  for (const juror of ['bad', 'bad-2'])
    expect(await claim(api, 'bar', juror), juror).toMatchObject({ case: null, reasons: { notEligible: 1 } });
  const { id, token } = await claimed(api, 'bar', 'good');
  expect(id).toBe('bar-real');
  expect(await voted(api, id, token, 'buyer')).toMatchObject({ counted: true });
  // the bar is the court's of now
  await court(api, 'bar', { votesToWin: 50, goldShare: 1, quality: { agreement: 0.3, after: 3 } });
  await claimed(api, 'bar', 'bad');
});

test('S2.8 who falls below the bar while he holds a case has no vote on it', async () => {
  const rules = { votesToWin: 2, strategy: { pick: 'oldest' }, quality: { agreement: 1, after: 1 } };
  await court(api, 'fallen', rules);
  await jurors(api, 'fallen', numbered(4));
  await addCases(api, 'fallen', [
    { id: 'fallen-1', body: 1 },
    { id: 'fallen-2', body: 2 },
  ]);
  await judged('fallen', 'j0', () => 'seller');
  await judged('fallen', 'j1', () => 'buyer');
  const held = await claimed(api, 'fallen', 'j0');
  expect(held.id).toBe('fallen-2');
  await judged('fallen', 'j2', () => 'buyer');
  expect(await oneCase(api, 'fallen-1')).toMatchObject({ state: 'decided', winner: 'buyer' });
  for (let n = 0; n < 2; n++)
    expectProblem(await vote(api, held.id, held.token, 'buyer'), 'fallen', { status: 403, code: 'forbidden' });
  expect(await oneCase(api, 'fallen-2')).toMatchObject({ holds: 0, tally: { buyer: 0, seller: 0 } });
  expect((await claim(api, 'fallen', 'j0')).reasons).toMatchObject({ notEligible: 1 });
});

test('S2.8 admit proven: only who has agreed often enough already', async () => {
  const rules = { votesToWin: 50, goldShare: 1, quality: { agreement: 0.5, after: 2 } };
  await court(api, 'proven', rules);
  await jurors(api, 'proven', ['good', 'bad', 'new', 'half']);
  await putGold('proven', { p1: 'buyer', p2: 'buyer' });
  await addCase(api, 'proven', { id: 'proven-real' });
  for (let n = 0; n < 2; n++) {
    await judged('proven', 'good', () => 'buyer');
    await judged('proven', 'bad', () => 'seller');
  }
  await judged('proven', 'half', () => 'buyer');
  const held = await claimed(api, 'proven', 'half');
  await court(api, 'proven', { ...rules, strategy: { admit: 'proven' } });
  for (const juror of ['bad', 'new'])
    expect((await claim(api, 'proven', juror)).reasons, juror).toMatchObject({ notEligible: 1 });
  expectProblem(await vote(api, held.id, held.token, 'buyer'), 'unproven', { status: 403, code: 'forbidden' });
  expect(await claimed(api, 'proven', 'good')).toMatchObject({ id: 'proven-real' });
});

test('S2.8 gold is replaced as a whole; it cannot stand for a real case or have an answer that is no option', async () => {
  await court(api, 'swap', { goldShare: 1 });
  await jurors(api, 'swap', ['reader']);
  await putGold('swap', { 'swap-1': 'buyer' });
  await addCase(api, 'swap', { id: 'swap-real' });
  const stream = await openStream(api, 'juror=reader');
  const held = await claimed(api, 'swap', 'reader');
  expect(held.id).toBe('swap-1');
  expect(await putGold('swap', { 'swap-2': 'seller' })).toEqual({ total: 1 });
  expect((await stream.first('lease_lost')).data).toMatchObject({ kind: 'case', id: 'swap-1', reason: 'invalidated' });
  expectProblem(await vote(api, held.id, held.token, 'buyer'), 'taken away', { status: 409, code: 'not_open' });
  expect(await claimed(api, 'swap', 'reader')).toMatchObject({ id: 'swap-2' });
  const gold = (id: string, answer: string) => api.put('/v1/courts/swap/gold', { cases: [{ id, body: null, answer }] });
  expectProblem(await gold('swap-real', 'buyer'), 'a real one', { status: 409, code: 'id_conflict' });
  expectProblem(await gold('swap-3', 'neither'), 'no option', { status: 422, code: 'invalid_request' });
  expect(await oneCase(api, 'swap-2')).toMatchObject({ state: 'open' });
});
