import { expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, keyed } = await startTestSystem({}, { role: 'api' });
const { add, addHeld, claimOne, configure, decide, eventTypes, ticket, withToken } = api.tickets;

const pathOf = (id: string) => `/v1/tickets/${id}/draft`;
const put = ({ id, lease }: Json, draft: unknown, client = api) =>
  client.put(pathOf(id), { token: lease.token, draft });
const get = async (id: string, reviewer: string) => {
  const { status, body } = await api.get(`${pathOf(id)}?reviewer=${reviewer}`);
  return status === 204 ? null : body.draft;
};

test('S0.7 a draft comes with the lease again, and is neither event nor version', async () => {
  const held = await addHeld('kept', 'd-1');
  const before = await ticket('d-1');
  expect(held.lease).not.toHaveProperty('draft');
  for (const draft of [{ verdict: 'keep' }, { verdict: 'remove', note: 'ä' }]) {
    expect((await put(held, draft)).status).toBe(204);
    expect(await claimOne('kept', 'anna')).toMatchObject({ id: 'd-1', resumed: true, lease: { draft } });
  }
  expect(await ticket('d-1')).toEqual(before);
  expect(await eventTypes('d-1')).toEqual(['created', 'claimed']);
  expect(await get('d-1', 'anna')).toEqual({ verdict: 'remove', note: 'ä' });
});

test('S0.7 only its writer sees it, with a live token it is written, and 64 KB are the most', async () => {
  const [anna, ben, crm] = [
    await keyed('reviewer', 'anna'),
    await keyed('reviewer', 'ben'),
    await keyed('producer', 'crm'),
  ];
  await add('own', { id: 'd-2' });
  const held = (await anna.post('/v1/queues/own/claim', {})).body.tickets[0];
  expect((await put(held, 'mine', anna)).status).toBe(204);
  expect((await anna.get(pathOf('d-2'))).body).toEqual({ draft: 'mine', at: expect.any(String) });
  expect((await anna.get('/v1/tickets/d-2')).body.lease.draft).toBe('mine');
  expectProblem(await ben.get(pathOf('d-2')), 'another reviewer', 'not_found');
  expectProblem(await anna.get(`${pathOf('d-2')}?reviewer=ben`), 'for another', 'forbidden');
  expectProblem(await crm.get(pathOf('d-2')), 'a producer', 'forbidden');
  expect(JSON.stringify((await crm.get('/v1/tickets/d-2')).body)).not.toContain('mine');
  expect(await get('d-2', 'ben')).toBeNull();
  expectProblem(await put({ ...held, lease: { token: 'junk' } }, 1), 'junk', 'lease_lost');
  expectProblem(await put(held, 'x'.repeat(65_535), anna), 'too large', 'payload_too_large');
  expect((await put(held, 'x'.repeat(65_534), anna)).status).toBe(204);
});

test('S0.7 it outlasts the lease for a day, and is its writer’s alone when another has the ticket', async () => {
  const held = await addHeld('later', 'd-3');
  await put(held, 'half');
  await withToken(held, 'release');
  expectProblem(await put(held, 'late'), 'after the lease', 'lease_lost');
  const bens = await claimOne('later', 'ben');
  expect(bens.lease).not.toHaveProperty('draft');
  expect([await get('d-3', 'anna'), await get('d-3', 'ben')]).toEqual(['half', null]);
  await put(bens, 'other');
  await withToken(bens, 'release');
  expect((await claimOne('later', 'anna')).lease.draft).toBe('half');
  await sql(`update event set at = at - interval '25 hours' where item_id = 'd-3'`);
  expect([await get('d-3', 'anna'), await get('d-3', 'ben')]).toEqual(['half', null]);
});

test.each<[string, (held: Json) => Promise<unknown>]>([
  ['a decision', (held) => decide(held)],
  ['a transfer', (held) => withToken(held, 'transfer', { queue: 'elsewhere' })],
  ['a skip', (held) => withToken(held, 'release', { skip: true })],
])('S0.7 it ends with %s, and is deleted in time', async (how, end) => {
  await configure('elsewhere', {});
  const id = how.replace(' ', '-');
  const held = await addHeld(`ends-${id}`, id);
  await put(held, 'gone');
  await end(held);
  expect(await get(id, 'anna')).toBeNull();
  await sql(`update draft set at = at - interval '2 hours' where item_id = '${id}'`);
  await expect.poll(() => sql(`select from draft where item_id = '${id}'`), { timeout: 30_000 }).toEqual([]);
});

test('S0.7 fifty drafts of one lease at once leave one of them', async () => {
  const held = await addHeld('many', 'd-4');
  const replies = await Promise.all(repeat(50, (n) => put(held, n)));
  expect(replies.map((r) => r.status)).toEqual(Array(50).fill(204));
  expect(await sql(`select from draft where item_id = 'd-4'`)).toHaveLength(1);
});
