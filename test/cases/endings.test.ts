import { expect, test } from 'vitest';
import { addCase, claim, claimed, court, insist, jurors, oneCase, vote, voted } from '../support/cases.ts';
import { eventually, type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { stores });
const twin = await startTestSystem({}, { role: 'api', stores });

/** A holder must hear within a second; the machine that runs the tests is given some more. */
const SOON_MS = 3_000;

const events = async (id: string): Promise<Json[]> =>
  insist(await api.get(`/v1/cases/${id}/events?limit=500`), 'events', 200).items;
const types = async (id: string): Promise<string[]> => (await events(id)).map((e) => e.type);
const hung = (id: string) => eventually(async () => (await oneCase(api, id)).state === 'hung');

const endings: [string, string, (id: string, tokens: string[]) => Promise<unknown>][] = [
  ['decided', 'court', async (id, [, other = '']) => voted(api, id, other, 'buyer')],
  [
    'invalidated',
    'anonymous',
    async (id) => api.post(`/v1/cases/${id}/invalidate`, { reason: 'settled out of court' }),
  ],
];

test.each(endings)('S2.6 whoever reads a case that is %s meanwhile is told at once', async (reason, by, end) => {
  const [name, id] = [`told-${reason}`, `told-${reason}-1`];
  const people = [`${reason}-reader`, `${reason}-other`, `${reason}-idle`];
  await court(api, name, { votesToWin: 1, overbook: 1 });
  await jurors(api, name, people);
  await addCase(api, name, { id });
  const [mine, idle] = [await openStream(api, `juror=${people[0]}`), await openStream(api, `juror=${people[2]}`)];
  const far = await openStream(twin.api, `juror=${people[0]}`);
  const tokens = [];
  for (const juror of people.slice(0, 2)) tokens.push((await claimed(api, name, juror)).token);
  await end(id, tokens);
  const ended = performance.now();
  for (const stream of [mine, far]) {
    const { data, at } = await stream.first('lease_lost');
    expect(data).toEqual({ kind: 'case', id, reason, by });
    expect(at - ended).toBeLessThan(SOON_MS);
  }
  expect(idle.events).toEqual([]);
  expectProblem(await vote(api, id, tokens[0] ?? '', 'seller'), 'late', 'not_open');
  expectProblem(await api.post(`/v1/cases/${id}/renew`, { token: tokens[0] }), 'renew', 'not_open');
  // an invalidated case wastes nobody's vote: there was nothing to decide
  expect(await oneCase(api, id)).toMatchObject({ state: reason, wasted: reason === 'decided' ? 1 : 0, holds: 0 });
});

test('S2.6 who decides a case is not told that he lost it', async () => {
  await court(api, 'decider', { votesToWin: 1 });
  await jurors(api, 'decider', ['decider']);
  for (const id of ['decider-1', 'decider-2']) await addCase(api, 'decider', { id });
  const stream = await openStream(api, 'juror=decider');
  const first = await claimed(api, 'decider', 'decider');
  await voted(api, first.id, first.token, 'buyer');
  const second = await claimed(api, 'decider', 'decider');
  await api.post(`/v1/cases/${second.id}/invalidate`, { reason: 'r' });
  await stream.first('lease_lost');
  expect(stream.events.map((e) => e.data.id)).toEqual([second.id]);
});

test('S2.5 who holds a case too long is told, and it has room for another', async () => {
  await court(api, 'slow', { votesToWin: 1, leaseSeconds: 0.4 });
  await jurors(api, 'slow', ['slow', 'next']);
  await addCase(api, 'slow', { id: 'slow-1' });
  const stream = await openStream(api, 'juror=slow');
  const held = await claimed(api, 'slow', 'slow');
  expect((await stream.first('lease_lost')).data).toMatchObject({ id: 'slow-1', reason: 'expired', by: 'system' });
  await court(api, 'slow', { votesToWin: 1 });
  await claimed(api, 'slow', 'next');
  expectProblem(await vote(api, 'slow-1', held.token, 'buyer'), 'late', 'lease_lost');
  expect(await oneCase(api, 'slow-1')).toMatchObject({ holds: 1, wasted: 0, tally: { buyer: 0, seller: 0 } });
});

test('S2.7 fallback extendSeconds: a deadline is put off once, its holders go on, and then it hangs', async () => {
  const { callback, received } = await startReceiver();
  await court(api, 'extended', { votesToWin: 2, callback, fallback: { extendSeconds: 3 } });
  await jurors(api, 'extended', ['j0']);
  const { deadlineAt } = await addCase(api, 'extended', { id: 'ext-1', deadlineSeconds: 1 });
  const held = await claimed(api, 'extended', 'j0');
  const extended = await eventually(async () => (await events('ext-1')).find((e) => e.type === 'extended'));
  expect(Date.parse(extended.at)).toBeGreaterThanOrEqual(Date.parse(deadlineAt));
  const later = await oneCase(api, 'ext-1');
  expect(Date.parse(later.deadlineAt) - Date.parse(extended.at)).toBeCloseTo(3_000, -2);
  expect(await voted(api, 'ext-1', held.token, 'buyer')).toMatchObject({ counted: true });
  await hung('ext-1');
  await eventually(async () => received.length > 0);
  expect(received.map(opened)).toMatchObject([{ type: 'case.hung', case: { id: 'ext-1', tally: { buyer: 1 } } }]);
  expect((await types('ext-1')).filter((t) => t === 'extended')).toHaveLength(1);
  expect((await events('ext-1')).find((e) => e.type === 'hung')).toMatchObject({
    data: { reason: 'deadline', tally: { buyer: 1 } },
  });
});

test('S2.7 fallback court: what hangs goes to the court of appeal, once, with its parties and its callback', async () => {
  const { callback, received } = await startReceiver();
  await court(api, 'appeal', { votesToWin: 1 });
  await jurors(api, 'appeal', [{ id: 'judge' }, { id: 'friend', person: 'p-anna' }]);
  await court(api, 'lower', { votesToWin: 2, deadlineSeconds: 0.4, fallback: { court: 'appeal' } });
  const sent = { id: 'dispute', parties: [{ id: 'anna', person: 'p-anna' }], body: { about: 'a shoe' }, callback };
  await addCase(api, 'lower', sent);
  const made = await eventually(async () => (await api.get('/v1/cases?court=appeal')).body.items[0]);
  const { parties, body } = sent;
  expect(made).toMatchObject({ court: 'appeal', state: 'open', parties, body, votesLeft: 1, deadlineAt: null });
  expect(await oneCase(api, 'dispute')).toMatchObject({ state: 'hung', winner: null });
  const escalated = await eventually(async () => (await events('dispute')).find((e) => e.type === 'escalated'));
  expect(escalated.data).toMatchObject({ court: 'appeal', id: made.id });
  expect((await claim(api, 'appeal', 'friend')).reasons).toMatchObject({ party: 1 });
  const { token } = await claimed(api, 'appeal', 'judge');
  await voted(api, made.id, token, 'seller');
  await eventually(async () => received.length === 2);
  expect(received.map(opened).map((m) => [m.type, m.case.id, m.case.winner])).toEqual([
    ['case.hung', 'dispute', null],
    ['case.decided', made.id, 'seller'],
  ]);
  expect((await api.get('/v1/cases?court=appeal')).body.items).toHaveLength(1);
});

test('S2.7 a case whose id is as long as ids may be is taken to its court of appeal, too', async () => {
  await court(api, 'above', {});
  await court(api, 'below', { deadlineSeconds: 0.4, fallback: { court: 'above' } });
  const id = 'x'.repeat(200);
  await addCase(api, 'below', { id });
  const made = await eventually(async () => (await api.get('/v1/cases?court=above')).body.items[0]);
  const escalated = await eventually(async () => (await events(id)).find((e) => e.type === 'escalated'));
  expect(escalated.data).toEqual({ court: 'above', id: made.id });
});

test('S2.7 fallback queue: what hangs becomes a ticket that no party is handed', async () => {
  await court(api, 'desk', {
    ...{ votesToWin: 1, panel: 1, options: ['a', 'b'] },
    ...{ strategy: { decide: 'majority' }, deadlineSeconds: 0.4, fallback: { queue: 'hung-cases' } },
  });
  await addCase(api, 'desk', { id: 'desk-1', parties: [{ id: 'party' }], body: 'text' });
  const ticket = await eventually(async () => (await api.get('/v1/tickets?queue=hung-cases')).body.items[0]);
  expect(ticket).toMatchObject({
    ...{ queue: 'hung-cases', state: 'waiting', exclude: ['party'] },
    body: { case: { id: 'desk-1', court: 'desk', state: 'hung', body: 'text', tally: { a: 0, b: 0 } } },
  });
  const escalated = await eventually(async () => (await events('desk-1')).find((e) => e.type === 'escalated'));
  expect(escalated.data).toMatchObject({ queue: 'hung-cases', id: ticket.id });
});

test('S2.7 a court of appeal that does not exist is on record, and the case hangs all the same', async () => {
  await court(api, 'astray', { deadlineSeconds: 0.3, fallback: { court: 'nowhere' } });
  await addCase(api, 'astray', { id: 'astray-1' });
  const refused = await eventually(async () => (await events('astray-1')).find((e) => e.type === 'refused'));
  expect(refused.data).toMatchObject({ attempt: 'escalate', reason: 'not_found', court: 'nowhere' });
  expect(await oneCase(api, 'astray-1')).toMatchObject({ state: 'hung' });
});

test('S2.7 a changed deadline is that of the cases that run, those with their own aside', async () => {
  await court(api, 'hurried', { votesToWin: 5 });
  await jurors(api, 'hurried', numbered(2));
  await addCase(api, 'hurried', { id: 'hurried-1' });
  await addCase(api, 'hurried', { id: 'hurried-2', deadlineSeconds: 3600 });
  const own = (await oneCase(api, 'hurried-2')).deadlineAt;
  await court(api, 'hurried', { votesToWin: 5, deadlineSeconds: 0.1 });
  await hung('hurried-1');
  expect(await oneCase(api, 'hurried-2')).toMatchObject({ state: 'open', deadlineAt: own });
  await court(api, 'hurried', { votesToWin: 5 });
  expect(await oneCase(api, 'hurried-1')).toMatchObject({ state: 'hung' });
});
