import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { erased } from '../support/erasures.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTwoSystems } from '../support/system.ts';

const [system, { api: other }] = await startTwoSystems();
const { api, keyed, sql } = system;
const { addCase, claim, claimed, court, eventTypes, invitations, judge, jurors, oneCase, openCourt, voted } = api.cases;

const ask = (id: string, more: object = {}, by = api) =>
  by.post(`/v1/cases/${id}/looks`, { cause: 'appeal', by: 'sam', ...more });
const appeal = async (id: string, more: object = {}): Promise<Json> => insist(await ask(id, more), 'appeal', 201);
const OLDEST = { strategy: { pick: 'oldest' } };

test('B.2 an appeal against a verdict is a case that nobody who voted is handed, by any account, and its end says what stands', async () => {
  const people = ['j0', 'j1', { id: 'j2' }, { id: 'j0-too', person: 'j0' }, { id: 'sam' }, ...numbered(4, 'new')];
  await openCourt('ap', { ...OLDEST, votesToWin: 2 }, people, []);
  await addCase('ap', { id: 'ap-1', parties: [{ id: 'sam' }], body: { claim: 'torn' } });
  expectProblem(await ask('ap-1'), 'open', 'not_final');
  for (const juror of ['j0', 'j1']) await judge('ap', juror, 'buyer');
  const first = await oneCase('ap-1');
  expect(first).toMatchObject({ of: null, looks: [], standing: { winner: 'buyer', by: 'court', case: 'ap-1' } });
  const second = await appeal('ap-1', { reason: 'the proof was found' });
  const { id } = second;
  expect(second).toMatchObject({
    ...{ court: 'ap', state: 'open', parties: [{ id: 'sam' }], body: { claim: 'torn' }, votesLeft: 2 },
    ...{ of: { id: 'ap-1', cause: 'appeal' }, looks: [], standing: null },
  });
  const { items } = insist(await api.get(`/v1/cases/${id}/events`), 'events', 200);
  expect(items[0]).toMatchObject({ type: 'created', data: { of: 'ap-1', reason: 'the proof was found' } });
  expect((await oneCase('ap-1')).looks).toEqual([{ id, causes: ['appeal'], state: 'open', outcome: null }]);

  // whoever turns out to be a voter's person is one of them, and no new parties lift that
  await jurors('ap', [{ id: 'new0', person: 'j1' }]);
  insist(await api.patch(`/v1/cases/${id}`, { parties: [{ id: 'sam' }, { id: 'new1' }] }), 'patch', 200);
  for (const juror of ['j0', 'j1', 'j0-too', 'new0'])
    expect((await claim('ap', juror)).reasons, juror).toMatchObject({ voted: 1, party: 0 });
  for (const juror of ['sam', 'new1']) expect((await claim('ap', juror)).reasons).toMatchObject({ voted: 0, party: 1 });
  const why = async (juror: string) => (await api.post('/v1/courts/ap/explain', { juror, case: id })).body.why;
  expect([await why('j0-too'), await why('sam')]).toEqual([['voted'], ['party']]);
  for (const juror of ['new2', 'new3']) expect((await judge('ap', juror, 'seller')).id).toBe(id);

  expect(await oneCase(id)).toMatchObject({ state: 'decided', winner: 'seller' });
  const after = await oneCase('ap-1');
  expect(after).toMatchObject({
    ...{ state: 'decided', winner: 'buyer', tally: { buyer: 2, seller: 0 }, decidedAt: first.decidedAt },
    looks: [{ id, causes: ['appeal'], state: 'decided', outcome: 'overturned' }],
    standing: { winner: 'seller', by: 'court', case: id },
  });
  expect(after.version).toBeGreaterThan(first.version);
  expect((await eventTypes('ap-1')).at(-1)).toBe('overturned');
  // an appeal against the second is one against the first, for people who voted on neither
  const third = await appeal(id);
  expect(third.of).toEqual({ id: 'ap-1', cause: 'appeal' });
  for (const juror of ['j1', 'new2']) expect((await claim('ap', juror)).reasons).toMatchObject({ voted: 1 });
  expect((await claim('ap', 'j2')).case.id).toBe(third.id);
});

test('B.2 fifty appeals at once open one case; one is open at a time, and calls that cannot have one are told why', async () => {
  await openCourt('many', { ...OLDEST, votesToWin: 1 }, numbered(5), ['many-1', 'many-2']);
  await judge('many', 'j0', 'buyer');
  const answers = await Promise.all(repeat(50, (n) => ask('many-1', {}, n % 2 ? api : other)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expectProblem(await ask('many-1', { by: 'ben' }), 'by another', 'already_open');
  insist(await api.post('/v1/cases/many-2/invalidate', { reason: 'over' }), 'invalidate', 200);
  expectProblem(await ask('many-2'), 'invalidated', 'not_final');
  expectProblem(await ask('nothing'), 'unknown', 'not_found');
  for (const wrong of [{ cause: 'check' }, { cause: 'overturn' }, { decision: 1 }])
    expectProblem(await ask('many-1', wrong), JSON.stringify(wrong), 'invalid_request');
  for (const role of ['reviewer', 'agent', 'consumer'] as const)
    expectProblem(await ask('many-1', {}, await keyed(role)), role, 'forbidden');
  await judge('many', 'j1', 'buyer');
  // it has ended: the same call opens another
  expect((await appeal('many-1')).id).not.toBe(answers[0]?.body.id);
});

test.each(['assign', 'both'])('B.2 S2.1 in mode %s nobody who voted is invited to the second case', async (mode) => {
  const assign = { jurors: 2, answerSeconds: 600 };
  await openCourt(mode, { votesToWin: 2 }, numbered(2, mode), [mode]);
  for (const juror of numbered(2, mode)) await judge(mode, juror, 'buyer');
  await court(mode, { votesToWin: 2, mode, assign });
  const { id } = await appeal(mode);
  await jurors(mode, [{ id: `${mode}-late` }, { id: `${mode}-too`, person: `${mode}0` }]);
  const found = async () => (await invitations(`${mode}-late`)).map((one) => one.case);
  await eventually(async () => (await found()).length > 0);
  expect(await found()).toEqual([id]);
  for (const juror of [...numbered(2, mode), `${mode}-too`]) expect(await invitations(juror)).toEqual([]);
  expect(await oneCase(id)).toMatchObject({ holds: 1 });
});

test('B.2 the receiver of the first verdict is told of each appeal, signed, with a higher version and as it was then', async () => {
  const receiver = await startReceiver();
  const settings = { ...OLDEST, votesToWin: 1, callback: receiver.callback, fallback: { queue: 'hung-cases' } };
  await openCourt('told', settings, numbered(6), ['told-1']);
  await judge('told', 'j0', 'buyer');
  await eventually(async () => receiver.received.length === 1);
  const upheld = await appeal('told-1');
  await judge('told', 'j1', 'buyer');
  const overturned = await appeal('told-1');
  await judge('told', 'j2', 'seller');
  const withdrawn = await appeal('told-1');
  insist(await api.post(`/v1/cases/${withdrawn.id}/invalidate`, { reason: 'withdrawn' }), 'invalidate', 200);
  const hung = await appeal('told-1');
  insist(await api.patch(`/v1/cases/${hung.id}`, { deadlineAt: new Date().toISOString() }), 'deadline', 200);
  await eventually(async () => receiver.received.length === 5);
  const messages = receiver.received.map(opened).toSorted((a, b) => a.version - b.version);
  expect(messages.map(({ type }) => type)).toEqual([
    ...['case.decided', 'case.upheld', 'case.overturned', 'case.look_ended', 'case.look_ended'],
  ]);
  expect(new Set(messages.map(({ version }) => version)).size).toBe(5);
  for (const { version, case: shown } of messages)
    expect(shown).toMatchObject({ id: 'told-1', winner: 'buyer', version });
  expect(messages.map(({ case: { looks, standing } }) => [looks.map((l: Json) => l.outcome), standing.winner])).toEqual(
    [
      [[], 'buyer'],
      [['upheld'], 'buyer'],
      [['upheld', 'overturned'], 'seller'],
      [['upheld', 'overturned', 'none'], 'seller'],
      [['upheld', 'overturned', 'none', 'none'], 'seller'],
    ],
  );
  expect(messages.slice(1).map(({ look }) => [look.id, look.state])).toEqual([
    [upheld.id, 'decided'],
    [overturned.id, 'decided'],
    [withdrawn.id, 'invalidated'],
    [hung.id, 'hung'],
  ]);
  // an appeal that hangs goes nowhere else
  expect((await api.get('/v1/tickets?queue=hung-cases')).body.items).toEqual([]);
  expect((await api.get(`/v1/cases/${hung.id}/deliveries`)).body.items).toEqual([]);
});

test('B.2 jurors see nothing of an appeal but the verdicts that it overturned; erasures reach it and exclude voters on', async () => {
  const voter = await keyed('reviewer', 'vera');
  await openCourt('seen', { ...OLDEST, votesToWin: 1 }, ['vera', 'wim', 'xan'], ['seen-1']);
  const { lease } = await voter.cases.claimOwn('seen');
  await voter.cases.voted('seen-1', lease.token, 'buyer');
  const { id } = await appeal('seen-1', { reason: 'secret' });
  expect(await voter.cases.oneCase('seen-1')).toMatchObject({
    looks: [],
    standing: { winner: 'buyer', case: 'seen-1' },
  });
  await erased(api, { person: 'vera' });
  await jurors('seen', ['vera']);
  expect((await claim('seen', 'vera')).reasons).toMatchObject({ voted: 1 });
  const held = await claimed('seen', 'wim');
  await voted(id, held.token, 'seller');
  await erased(api, { item: { kind: 'case', id: 'seen-1' } });
  for (const one of ['seen-1', id]) expect(await oneCase(one)).toMatchObject({ body: null, erased: true });
  expectProblem(await ask('seen-1'), 'erased', 'erased');
});

test('B.2 whatever appeals come to, rows agree; a case that says otherwise of one is found', async () => {
  const doctor = testDoctor(system);
  expect(await doctor.broken()).toEqual([]);
  const [looked] = await sql<{ id: string }>(`select id from item where look #>> '{looks,0,outcome}' = 'upheld'`);
  const set = (outcome: string) =>
    sql(`update item set look = jsonb_set(look, '{looks,0,outcome}', '${outcome}') where id = '${looked?.id}'`);
  await set('null');
  expect(await doctor.broken()).toEqual(['looks']);
  await set('"upheld"');
  expect(await doctor.broken()).toEqual([]);
});
