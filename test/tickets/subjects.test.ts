import { expect, test } from 'vitest';
import { type Json, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { add, addMany, claim, claimOne, configure, decide, events, stats, ticket } = api.tickets;

const states = async (ids: string[]) => Promise.all(ids.map(async (id) => (await ticket(id)).state));
const listed = async (query: string): Promise<string[]> =>
  (await api.get(`/v1/tickets?${query}`)).body.items.map(({ id }: Json) => id);

test('S0.4 a ticket has a subject from its add or a change on, and a list has those of one', async () => {
  expect(await add('about', { id: 'ab-1', subject: '用户 17' })).toMatchObject({
    subject: '用户 17',
    syncedWith: null,
  });
  expect(await add('about', { id: 'ab-2' })).toMatchObject({ subject: null });
  await add('elsewhere', { id: 'ab-3', subject: '用户 17' });
  const one = encodeURIComponent('用户 17');
  expect(await listed(`subject=${one}`)).toEqual(['ab-3', 'ab-1']);
  expect((await api.patch('/v1/tickets/ab-2', { subject: '用户 17' })).body.subject).toBe('用户 17');
  expect(await listed(`subject=${one}&queue=about`)).toEqual(['ab-2', 'ab-1']);
  await decide(await claimOne('elsewhere', 'anna'));
  expect(await listed(`subject=${one}&state=decided&reviewer=anna`)).toEqual(['ab-3']);
  expect((await api.patch('/v1/tickets/ab-1', { subject: null })).body.subject).toBeNull();
  expect(await listed(`subject=${one}&state=waiting`)).toEqual(['ab-2']);
  // the same content again is the same ticket; another subject is other content
  const again = { id: 'ab-3', body: null, subject: '用户 17' };
  expect((await api.post('/v1/queues/elsewhere/tickets', again)).status).toBe(200);
  expect((await api.post('/v1/queues/elsewhere/tickets', { ...again, subject: 'u' })).body.code).toBe('id_conflict');
  for (const subject of ['', 'x'.repeat(201), 'a\u0007b', 7])
    expect((await api.post('/v1/queues/about/tickets', { body: null, subject })).status).toBe(422);
});

test('S0.4 all open tickets of a subject are invalidated or resolved by one call, in one queue or in all', async () => {
  const fill = async (name: string) => {
    for (const queue of [`${name}-a`, `${name}-b`])
      await addMany(queue, [
        { id: `${queue}-1`, subject: name },
        { id: `${queue}-2`, subject: name, delaySeconds: 900 },
        { id: `${queue}-3`, subject: `${name}-other` },
      ]);
    await claimOne(`${name}-a`, 'anna');
  };
  await fill('inv');
  const invalidate = async (filter: object, more: object = {}) =>
    (await api.post('/v1/tickets/invalidate', { filter, reason: 'gone', ...more })).body;
  expect(await invalidate({ subject: 'inv' }, { dryRun: true })).toEqual({ invalidated: 4, skipped: 0 });
  expect(await invalidate({ subject: 'inv', state: 'held' })).toEqual({ invalidated: 1, skipped: 0 });
  const inQueue = { filter: { subject: 'inv', state: 'delayed' }, reason: 'gone' };
  expect((await api.post('/v1/queues/inv-b/invalidate', inQueue)).body).toEqual({ invalidated: 1, skipped: 0 });
  expect(await states(['inv-a-1', 'inv-a-2', 'inv-b-1', 'inv-b-2'])).toEqual([
    ...['invalidated', 'delayed', 'waiting', 'invalidated'],
  ]);
  expect(await invalidate({ subject: 'inv' })).toEqual({ invalidated: 2, skipped: 0 });
  expect(await states(['inv-a-3', 'inv-b-3'])).toEqual(['waiting', 'waiting']);

  await fill('res');
  await configure('res-b', { form: { type: 'object' } });
  const resolve = async (more: object) =>
    (await api.post('/v1/tickets/resolve', { decision: 'keep', reason: 'known', ...more })).body;
  expect(await resolve({ filter: { subject: 'res' }, dryRun: true })).toEqual({ resolved: 2, skipped: 2 });
  expect(await resolve({ filter: { subject: 'res' } })).toEqual({ resolved: 2, skipped: 2 });
  expect(await ticket('res-a-1')).toMatchObject({ state: 'decided', decision: 'keep', reason: 'known' });
  expect(await states(['res-a-2', 'res-a-3', 'res-b-1'])).toEqual(['decided', 'waiting', 'waiting']);
  for (const wrong of [{}, { items: [{ id: 'x', decision: 1 }], filter: { subject: 's' } }, { items: [], decision: 1 }])
    expect((await api.post('/v1/tickets/resolve', { reason: 'r', ...wrong })).status).toBe(422);
  // a key that is for some queues names one
  const { key } = (await api.post('/v1/keys', { role: 'producer', queues: ['inv-a'] })).body;
  const call = (filter: object) => api.as(key).post('/v1/tickets/invalidate', { filter, reason: 'gone' });
  expect((await call({ subject: 'inv' })).status).toBe(403);
  expect((await call({ subject: 'inv-other', queue: 'inv-b' })).status).toBe(403);
  expect((await call({ subject: 'inv-other', queue: 'inv-a' })).body).toEqual({ invalidated: 1, skipped: 0 });
});

test('S0.4 where a queue syncs, a decision decides the other open tickets of its subject, and their holders are told', async () => {
  await configure('sync', { sync: 'subject', maxHeld: 2 });
  await addMany('sync', [
    { id: 'sy-1', subject: 'u1' },
    { id: 'sy-held', subject: 'u1' },
    { id: 'sy-mine', subject: 'u1', priority: -1 },
    { id: 'sy-waits', subject: 'u1', priority: -2 },
    { id: 'sy-delayed', subject: 'u1', delaySeconds: 900 },
    { id: 'sy-excludes', subject: 'u1', exclude: ['anna', 'ben', 'cleo'] },
    { id: 'sy-skills', subject: 'u1', requires: ['law'] },
    { id: 'sy-review', subject: 'u1', delaySeconds: 900, callback: { review: 'r', kind: 'text' } },
    { id: 'sy-other', subject: 'u2', priority: -9 },
    { id: 'sy-none', priority: -9 },
  ]);
  await add('sync-elsewhere', { id: 'sy-elsewhere', subject: 'u1' });
  const first = await claimOne('sync', 'anna');
  const held = await claimOne('sync', 'ben');
  const mine = (await claim('sync', 'anna', { count: 2 })).tickets[1];
  expect([first.id, held.id, mine.id]).toEqual(['sy-1', 'sy-held', 'sy-mine']);
  const stream = await openStream(api, 'reviewer=ben');
  const answer = await decide(first, { remove: true }, { next: true });
  expect(answer.body).toMatchObject({ ticket: { id: 'sy-1', syncedWith: null }, synced: 4, next: { id: 'sy-other' } });
  const with1 = { state: 'decided', decision: { remove: true }, decidedBy: 'anna', syncedWith: 'sy-1', reason: null };
  for (const id of ['sy-held', 'sy-mine', 'sy-waits', 'sy-delayed']) expect(await ticket(id)).toMatchObject(with1);
  for (const id of ['sy-excludes', 'sy-skills', 'sy-review', 'sy-none', 'sy-elsewhere'])
    expect(['waiting', 'delayed']).toContain((await ticket(id)).state);
  const lost = { kind: 'ticket', id: 'sy-held', reason: 'resolved', by: 'anna' };
  expect((await stream.first('lease_lost')).data).toEqual(lost);
  expect((await decide(held)).body).toMatchObject({ code: 'not_open', state: 'decided', by: 'anna' });
  expect((await events('sy-held')).at(-2)).toMatchObject({ type: 'synced', actor: 'anna', data: { with: 'sy-1' } });
  // the same again has the same answer
  expect((await decide(first, { remove: true }, { next: true })).body).toEqual(answer.body);
  expect(await stats('sync')).toMatchObject({ decided: 5, held: 1 });
});

test('S0.4 a resolve decides the others of the subject too; one that excludes who resolves or asks for more stays', async () => {
  await configure('sync-r', { sync: 'subject' });
  await addMany('sync-r', [
    { id: 'sr-1', subject: 'u', requires: ['law'] },
    { id: 'sr-2', subject: 'u', requires: ['law'] },
    { id: 'sr-3', subject: 'u' },
    { id: 'sr-4', subject: 'u', exclude: ['anonymous'] },
    { id: 'sr-5', subject: 'u', requires: ['medicine'] },
  ]);
  await api.post('/v1/tickets/sr-1/resolve', { decision: 'keep', reason: 'known' });
  expect(await ticket('sr-2')).toMatchObject({ syncedWith: 'sr-1', decidedBy: 'anonymous', reason: 'known' });
  expect(await states(['sr-3', 'sr-4', 'sr-5'])).toEqual(['decided', 'waiting', 'waiting']);
  // all that a filter matches are counted, by whichever of them they are decided
  const many = numbered(1_200, 'sr-many-').map((id) => ({ id, subject: 'many' }));
  await addMany('sync-r', many);
  const wanted = { filter: { subject: 'many' }, decision: 1, reason: 'r' };
  expect((await api.post('/v1/tickets/resolve', wanted)).body).toEqual({ resolved: 1_200, skipped: 0 });
});

test('S0.7 of fifty who decide tickets of one subject at once one decides all, and the others learn by whom', async () => {
  await configure('sync-50', { sync: 'subject' });
  const sent = repeat(60, (n) => ({ id: `s50-${n}`, subject: 'one' }));
  await addMany('sync-50', sent);
  const held = await Promise.all(repeat(50, (n) => claimOne('sync-50', `p${n}`)));
  const answers = await Promise.all(held.map((one, n) => decide(one, `by ${n}`)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won.map(({ body }) => body.synced)).toEqual([59]);
  const { decidedBy: by, decision } = won[0]?.body.ticket ?? {};
  for (const { status, body } of answers)
    if (status !== 200) expect([status, body.code, body.by]).toEqual([409, 'not_open', by]);
  for (let n = 0; n < 60; n++) expect(await ticket(`s50-${n}`)).toMatchObject({ decidedBy: by, decision });
  expect(await stats('sync-50')).toMatchObject({ decided: 60, waiting: 0, held: 0 });
});

test('S0.4 from the answer on every call takes thousands of tickets of one subject as decided', async () => {
  await configure('sync-10k', { sync: 'subject' });
  const many = byNight(10_000, 2_500);
  await addMany(
    'sync-10k',
    repeat(many, (n) => ({ id: `s10k-${n}`, subject: 'flood' })),
  );
  await add('sync-10k', { id: 's10k-after', subject: 'calm', priority: -5 });
  const held = await claimOne('sync-10k', 'anna');
  const { body } = await decide(held, 'remove', { next: true });
  expect([body.synced, body.next.id]).toEqual([many - 1, 's10k-after']);
  expect(await stats('sync-10k')).toMatchObject({ decided: many, waiting: 0 });
  expect(await ticket(`s10k-${many - 1}`)).toMatchObject({ state: 'decided', syncedWith: held.id });
  expect((await claim('sync-10k', 'ben')).tickets).toEqual([]);
  expect((await decide(held, 'remove', { next: true })).body).toEqual(body);
});
