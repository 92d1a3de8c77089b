import { describe, expect, test } from 'vitest';
import { claimOne, eventTypes } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();

describe('claiming', () => {
  test('S0.1 urgent tickets go first, equal ones oldest first', async () => {
    for (const [id, priority] of [
      ['p0', 0],
      ['p5', 5],
      ['p5b', 5],
      ['p-3', -3],
    ] as const)
      await api.post('/v1/queues/first/tickets', { id, priority, body: null });
    const order = [];
    for (const reviewer of ['a', 'b', 'c', 'd']) order.push((await claimOne(api, 'first', reviewer)).id);
    expect(order).toEqual(['p5', 'p5b', 'p0', 'p-3']);
  });

  test('S0.6 a reviewer who holds one gets the same again, and no event is written', async () => {
    await api.post('/v1/queues/resume/tickets', { id: 'res', body: {} });
    const first = await claimOne(api, 'resume', 'anna');
    const again = await claimOne(api, 'resume', 'anna');
    expect(again).toMatchObject({ id: 'res', resumed: true });
    expect(again.lease.token).toBe(first.lease.token);
    expect(await eventTypes(api, 'res')).toEqual(['created', 'claimed']);
  });
});
