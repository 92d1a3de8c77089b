import { expect, test } from 'vitest';
import { addCase, claimed, court, jurors, numbered } from '../support/cases.ts';
import { claimOne, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });

/** The lease has run out, and no clock has ended it yet. */
const runOut = (id: string) =>
  sql(
    `update item set expires_at = granted_at + interval '1 microsecond', wake_at = clock_timestamp() + interval '1 hour' where id = $1`,
    [id],
  );

test('S0.7 a token that was never given for this ticket: lease_lost, with a reason of the contract', async () => {
  for (const id of ['mine', 'other']) await api.post('/v1/queues/lost/tickets', { id, body: {} });
  const [mine, other] = [await claimOne(api, 'lost', 'anna'), await claimOne(api, 'lost', 'ben')];
  for (const token of ['made-up', other.lease.token])
    for (const [call, more] of Object.entries({ decide: { decision: 1 }, renew: {}, release: {} })) {
      const { status, body } = await api.post(`/v1/tickets/${mine.id}/${call}`, { token, ...more });
      expect([status, body.code, body.reason, body.endedAt], call).toEqual([409, 'lease_lost', 'revoked', null]);
    }
});

test('S3.3 a reservation that has run out, or never was: finish says which', async () => {
  const job = async (command: string, fields: object): Promise<Json> =>
    (await api.post('/v1/jobs', { command, ...fields })).body;
  await job('add', { topic: 'lost', id: 'j', delay: 0, TTR: 60, body: 1 });
  const { token } = await job('pop', { topic: 'lost' });
  expect(await job('finish', { id: 'j', token: 'made-up' })).toMatchObject({ success: false, reason: 'revoked' });
  await runOut('j');
  expect(await job('touch', { id: 'j', token })).toMatchObject({ success: false, reason: 'expired' });
});

test('S2.3 a vote with a token that was never given for this case', async () => {
  await court(api, 'lost', {});
  await jurors(api, 'lost', numbered(1));
  await addCase(api, 'lost', { id: 'c' });
  await claimed(api, 'lost', 'j0');
  const { status, body } = await api.post('/v1/cases/c/votes', { token: 'made-up', option: 'buyer' });
  expect([status, body.code, body.reason]).toEqual([409, 'lease_lost', 'revoked']);
});
