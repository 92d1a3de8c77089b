import { expect, test } from 'vitest';
import { eventually, repeat } from '../support/client.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { job } from '../support/jobs.ts';
import { published } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';
import { decide, withToken } from '../support/tickets.ts';

const system = await startTestSystem({ LOG_LEVEL: 'silent' });
const { api, running } = system;
const doctor = testDoctor(system);

const AT_ONCE = 50;

/** Adds, claims, and decides, gives back or lets be, on a few tickets and jobs that all want. */
async function act(n: number): Promise<void> {
  const queue = `busy-${n % 5}`;
  for (let round = 0; round < 2; round++) {
    await api.post(`/v1/queues/${queue}/tickets`, { body: n });
    await job(api, 'add', { topic: queue, id: `${n}-${round}-${Math.random()}`, TTR: 60, body: n });
    const { body } = await api.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` });
    const [ticket] = body.tickets;
    if (ticket) await ((n + round) % 3 === 0 ? withToken(api, ticket, 'release') : decide(api, ticket, n));
    const { id, token } = await job(api, 'pop', { topic: queue });
    if (id !== null && round % 2 === 0) await job(api, 'finish', { id, token });
  }
}

test('S0.6 fifty parallel callers on all kinds while doctor looks again and again: nothing is found broken', async () => {
  await useAllKinds(api, 'before');
  // a look takes long where it reads all tickets for each one
  await api.post('/v1/queues/waiting/tickets/batch', { tickets: repeat(150, (n) => ({ body: n })) });
  let over = false;
  const work = (async () => {
    await Promise.all([...repeat(AT_ONCE, (n) => act(n)), useAllKinds(api, 'busy')]);
    await api.get('/v1/feed?after=0&limit=5000');
    over = true;
  })();
  let looks = 0;
  for (; !over || looks < 3; looks++)
    // workflows that end late on a busy machine are no fault
    expect(await doctor.broken({ deep: true, limits: { lines: 2_000, againMs: 1_000, overSeconds: 300 } })).toEqual([]);
  await work;
  await published(running, 240_000);
  const names = async () =>
    Object.keys(await doctor.findings({ deep: true, limits: { againMs: 2_000, overSeconds: 5 } }));
  await eventually(async () => (await names()).length === 0, 60_000).catch(() => {});
  expect(await names()).toEqual([]);
}, 600_000);
