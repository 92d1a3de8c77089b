import { expect, test } from 'vitest';
import { dice, insist, type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem();
const { addCase, addCases, claim, claimed, court, judge, jurors, openCourt, release, voted } = api.cases;

const explain = async (name: string, juror: string, id?: string): Promise<Json> =>
  insist(await api.post(`/v1/courts/${name}/explain`, { juror, ...(id && { case: id }) }), 'explain', 200);
const why = async (name: string, juror: string, id: string): Promise<string[]> => (await explain(name, juror, id)).why;
const OLDEST = { strategy: { pick: 'oldest' } };

test('S2.1 explain of a case names everything that keeps a juror from it, and how many go before it', async () => {
  const settings = { ...OLDEST, votesToWin: 2, window: { cases: 2, seconds: 3_600 }, votesPerDay: 3 };
  const people = [
    { id: 'anna' },
    { id: 'ann2', person: 'anna' },
    'ben',
    'carl',
    { id: 'dora', invite: false },
    'off',
    'skip',
  ];
  await openCourt('named', { ...settings, window: null }, people, ['n1', 'n2', 'n3']);
  await jurors('named', [{ id: 'off', eligible: false }]);
  await addCase('named', { id: 'n-anna', parties: [{ id: 'anna' }] });
  expect(await explain('named', 'ben', 'n1')).toEqual({ offered: true, why: [], ahead: 0 });
  expect(await explain('named', 'ben', 'n-anna')).toEqual({ offered: true, why: [], ahead: 3 });
  expect(await explain('named', 'ann2', 'n-anna')).toEqual({ offered: false, why: ['party'], ahead: 3 });
  expect(await why('named', 'off', 'n1')).toEqual(['notEligible']);
  expect(await why('named', 'stranger', 'n-anna')).toEqual(['notEligible']);

  const held = await claimed('named', 'anna');
  expect([held.id, await why('named', 'anna', 'n1')]).toEqual(['n1', ['heldByYou']]);
  expect(await why('named', 'ann2', 'n2')).toEqual(['holdsAnother']);
  expect(await why('named', 'ann2', 'n-anna')).toEqual(['holdsAnother', 'party']);
  await claimed('named', 'ben');
  expect(await why('named', 'carl', 'n1')).toEqual(['noVotesLeft']);
  await voted('n1', held.token, 'buyer');
  expect(await why('named', 'ann2', 'n1')).toEqual(['voted', 'noVotesLeft']);
  const skipped = await claimed('named', 'skip');
  insist(await api.post(`/v1/cases/n2/release`, { token: skipped.token, skip: true }), 'skip', 200);
  expect(await why('named', 'skip', 'n2')).toEqual(['skipped']);
  expect(await explain('named', 'skip', 'n3')).toEqual({ offered: true, why: [], ahead: 0 });

  await court('named', settings);
  for (const juror of ['carl', 'carl']) await judge('named', juror, 'buyer');
  expect(await why('named', 'carl', 'n-anna')).toEqual(['windowFull']);
  await court('named', { ...settings, votesPerDay: 2, mode: 'assign', assign: { jurors: 1, answerSeconds: 600 } });
  expect(await why('named', 'carl', 'n-anna')).toEqual(['assigned', 'fatigue', 'windowFull']);
  await api.post('/v1/cases/n3/invalidate', { reason: 'over' });
  expect(await why('named', 'dora', 'n3')).toEqual(['invalidated', 'assigned']);
  await court('elsewhere', {});
  expect(await why('elsewhere', 'dora', 'n3')).toEqual(['invalidated', 'otherCourt', 'assigned']);
  expectProblem(await api.post('/v1/courts/named/explain', { juror: 'dora', case: 'none' }), 'case', 'not_found');
  expectProblem(await api.post('/v1/courts/none/explain', { juror: 'dora' }), 'court', 'not_found');
});

test('S2.1 whatever jurors do, explain says what a claim then gives, and counts the reasons that an empty one has', async () => {
  const roll = dice(7);
  const people = numbered(6, 'p');
  const accounts = people.flatMap((person) => [person, { id: `${person}-2`, person }]);
  const settings = { ...OLDEST, votesToWin: 2, votesPerDay: 6 };
  await openCourt('model', settings, [...accounts, { id: 'out', eligible: false }], []);
  await addCases(
    'model',
    numbered(12, 'm').map((id) => ({ id, parties: roll(3) === 0 ? [{ id: `p${roll(6)}` }] : [] })),
  );
  const ids = numbered(12, 'm');
  for (let step = 0; step < 60; step++) {
    const juror = roll(12) === 0 ? 'out' : `p${roll(6)}${roll(2) ? '-2' : ''}`;
    const before = await Promise.all(ids.map(async (id) => ({ id, ...(await explain('model', juror, id)) })));
    const { reasons } = await explain('model', juror);
    const answer = await claim('model', juror);
    const next = before.filter(({ offered, ahead }) => offered && ahead === 0).map(({ id }) => id);
    const offered = before.filter((one) => one.offered);
    if (answer.resumed) expect(before.find(({ id }) => id === answer.case.id)?.why).toEqual(['heldByYou']);
    else if (answer.case) expect(next).toEqual([answer.case.id]);
    else expect([offered, reasons]).toEqual([[], answer.reasons]);
    expect(offered.map(({ ahead }) => ahead)).toEqual(offered.map((_, n) => n));
    if (!answer.case) continue;
    if (roll(3) === 0) await release(answer.case.id, answer.lease.token);
    else if (roll(3) > 0) await voted(answer.case.id, answer.lease.token, 'buyer');
  }
});

test('S2.4 where all places of a window are taken, explain counts what its claim says, also while a shown case can be had again', async () => {
  await openCourt('window', { ...OLDEST, votesToWin: 3, window: { cases: 1, seconds: 3_600 } }, numbered(3), [
    'w1',
    'w2',
  ]);
  const { id, token } = await claimed('window', 'j0');
  await release(id, token);
  expect((await explain('window', 'j0')).reasons).toMatchObject({ windowFull: 0, none: 1 });
  await judge('window', 'j0', 'buyer');
  const { reasons } = await claim('window', 'j0');
  expect(reasons).toMatchObject({ windowFull: 2, voted: 1 });
  expect(await explain('window', 'j0')).toEqual({ reasons });
});

test('S2.8 explain says nothing by which a juror could tell gold from other cases', async () => {
  const key = await keyed('reviewer', 'nora');
  const rules = { ...OLDEST, votesToWin: 1, goldShare: 1, strategy: { admit: 'proven', pick: 'oldest' } };
  await openCourt('hidden', rules, ['nora'], ['real']);
  insist(await api.put('/v1/courts/hidden/gold', { cases: [{ id: 'gold', body: 1, answer: 'buyer' }] }), 'gold', 200);
  const asked = async (more: object) => (await key.post('/v1/courts/hidden/explain', more)).body;
  // a newcomer gets gold only, which is not told
  expect((await asked({})).reasons).toMatchObject({ notEligible: 0 });
  const { case: given, lease } = await key.cases.claimOwn('hidden');
  expect(given.id).toBe('gold');
  expect((await asked({ case: 'gold' })).why).toEqual(['heldByYou']);
  await key.cases.voted('gold', lease.token, 'buyer');
  expect([(await key.get('/v1/cases/gold')).body.state, (await asked({ case: 'gold' })).why]).toEqual([
    ...['decided', ['decided', 'voted']],
  ]);
});

test('S2.1 a juror’s key learns of cases that were handed to them only', async () => {
  const [ina, jon] = [await keyed('reviewer', 'ina'), await keyed('reviewer', 'jon')];
  await openCourt('known', { ...OLDEST, votesToWin: 1 }, ['ina', 'jon'], ['k1', 'k2']);
  const ask = (key: typeof ina, more: object) => key.post('/v1/courts/known/explain', more);
  await ina.cases.claimOwn('known');
  expect((await ask(ina, { case: 'k1' })).body).toEqual({ offered: false, why: ['heldByYou'], ahead: 0 });
  for (const id of ['k2', 'none']) expectProblem(await ask(ina, { case: id }), id, 'not_found');
  expectProblem(await ask(jon, { case: 'k1' }), 'k1', 'not_found');
  expectProblem(await ask(jon, { juror: 'ina' }), 'another', 'forbidden');
  expect((await ask(jon, {})).body.reasons).toMatchObject({ noVotesLeft: 1, none: 0 });
});
