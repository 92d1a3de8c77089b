import { expect, test } from 'vitest';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { add, claim, claimOne, configure, decide, eventTypes, events, ticket, withToken } = api.tickets;

const patch = async (id: string, change: object) => (await api.patch(`/v1/tickets/${id}`, change)).body;

test('S0.7 a decision that names a version is refused once body or requirements have changed after it; the lease stays', async () => {
  await add('seen', { id: 'seen-1', body: { a: 1, b: 2 }, requires: ['law'] });
  const held = await claimOne('seen', 'anna', { skills: ['law'] });
  const { version } = await patch('seen-1', { body: { a: 1, b: 3 } });
  const late = await decide(held, 'keep', { version: held.version });
  expect([late.status, late.body.code, late.body.version]).toEqual([409, 'changed', version]);
  expect((await ticket('seen-1')).lease.reviewer).toBe('anna');
  const { version: third } = await patch('seen-1', { requires: ['law', 'medicine'] });
  expect((await decide(held, 'keep', { version })).body).toMatchObject({ code: 'changed', version: third });
  const decided = await decide(held, 'keep', { version: third });
  expect([decided.status, decided.body.ticket.decision]).toEqual([200, 'keep']);
  // repeated, it gets its first answer, whatever version it names
  expect((await decide(held, 'keep', { version: held.version })).body).toEqual(decided.body);
  expect(await eventTypes('seen-1')).toEqual(['created', 'claimed', 'changed', 'changed', 'decided']);
});

test('S0.7 nothing but body and requirements makes a decision too old: not priority, the same body, escalation or renewal', async () => {
  await configure('other', { rules: [{ when: { type: 'object' }, add: 1, requires: [] }] });
  await add('other', { id: 'other-1', body: { a: 1, b: 2 }, requires: ['law', 'x'] });
  const held = await claimOne('other', 'anna', { skills: ['law', 'x'] });
  await patch('other-1', { priority: 7, exclude: ['ben'], deadlineAt: new Date(Date.now() + 3_600_000).toISOString() });
  await patch('other-1', { body: { b: 2, a: 1 }, requires: ['x', 'law'] });
  await configure('other', { rules: [{ when: { type: 'object' }, requires: ['more'] }] });
  await withToken(held, 'renew');
  expect((await ticket('other-1')).version).toBeGreaterThan(held.version);
  expect((await decide(held, 'keep', { version: held.version })).status).toBe(200);
});

test('S0.6 a holder who is put into exclude loses the lease at once: revoked, and the ticket goes to another', async () => {
  await configure('party', { maxHeld: 2 });
  await add('party', { id: 'party-1' });
  const held = await claimOne('party', 'anna');
  const stream = await openStream(api, 'reviewer=anna');
  const changed = await patch('party-1', { exclude: ['anna'] });
  expect(changed).toMatchObject({ state: 'waiting', lease: null, exclude: ['anna'] });
  expect((await stream.first('lease_lost')).data).toMatchObject({ id: 'party-1', reason: 'revoked', by: 'anonymous' });
  stream.close();
  expect((await decide(held)).body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
  expect((await claim('party', 'anna')).reasons).toMatchObject({ excluded: 1 });
  const second = await claimOne('party', 'ben');
  expect((await events('party-1')).map(({ type, actor }) => [type, actor])).toEqual([
    ['created', 'anonymous'],
    ['claimed', 'anna'],
    ['changed', 'anonymous'],
    ['released', 'anonymous'],
    ['refused', 'anna'],
    ['claimed', 'ben'],
  ]);
  // somebody else is excluded: the holder keeps it
  expect((await patch('party-1', { exclude: ['anna', 'carl'] })).lease.reviewer).toBe('ben');
  expect((await decide(second)).status).toBe(200);
});

test('S0.6 nobody holds a ticket that excludes them, whoever claims while they are put into exclude', async () => {
  for (let round = 0; round < 20; round++) {
    const id = `race-${round}`;
    await add('race', { id });
    await Promise.all([claim('race', 'anna'), patch(id, { exclude: ['anna'] })]);
    expect((await ticket(id)).lease).toBeNull();
    await decide(await claimOne('race', 'ben'));
  }
});
