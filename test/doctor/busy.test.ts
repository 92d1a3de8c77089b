import { expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { published } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({ LOG_LEVEL: 'silent' });
const { api, running } = system;
const doctor = testDoctor(system);

const AT_ONCE = 50;

/** Adds, claims, and decides, gives back or lets be, on a few tickets and jobs that all want. */
async function act(n: number): Promise<void> {
  const queue = `busy-${n % 5}`;
  for (let round = 0; round < 4; round++) {
    await api.post(`/v1/queues/${queue}/tickets`, { body: n });
    await api.post('/v1/jobs', {
      command: 'add',
      topic: queue,
      id: `${n}-${round}-${Math.random()}`,
      TTR: 60,
      body: n,
    });
    const { body } = await api.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` });
    const [ticket] = body.tickets as Json[];
    if (ticket) {
      const { token } = ticket.lease;
      if (round % 3 === 0) await api.post(`/v1/tickets/${ticket.id}/release`, { token });
      else await api.post(`/v1/tickets/${ticket.id}/decide`, { token, decision: n });
    }
    const popped = (await api.post('/v1/jobs', { command: 'pop', topic: queue })).body;
    if (popped.id !== null && round % 2 === 0)
      await api.post('/v1/jobs', { command: 'finish', id: popped.id, token: popped.token });
  }
}

test('S0.6 fifty parallel callers on all kinds while doctor looks again and again: nothing is found broken', async () => {
  await useAllKinds(api, 'before');
  let over = false;
  const work = (async () => {
    await Promise.all([...repeat(AT_ONCE, (n) => act(n)), useAllKinds(api, 'busy')]);
    await api.get('/v1/feed?after=0&limit=5000');
    over = true;
  })();
  let looks = 0;
  for (; !over || looks < 3; looks++)
    expect(await doctor.broken({ deep: true, limits: { lines: 2_000, againMs: 1_000, overSeconds: 5 } })).toEqual([]);
  await work;
  await published(running, 240_000);
  const findings = await doctor.findings({ deep: true, limits: { againMs: 2_000, overSeconds: 5 } });
  expect(Object.keys(findings)).toEqual([]);
}, 600_000);
