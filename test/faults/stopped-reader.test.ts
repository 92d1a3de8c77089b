import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { claimOne } from '../support/client.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { add } from '../support/tickets.ts';

test('S0.4 a process that was stopped for longer than it looks back still notifies whom it serves', async () => {
  const stores = await testStores();
  const { api } = await startTestSystem({}, { stores, role: 'api' });
  const stopped = await startChild('api', settingsFor(stores));
  const stream = await openStream(stopped.api, 'reviewer=anna');
  for (const id of ['before', 'meanwhile']) {
    await add(api, 'taken', { id });
    await claimOne(api, 'taken', 'anna');
    if (id === 'meanwhile') stopped.process.kill('SIGSTOP');
    await api.post(`/v1/tickets/${id}/invalidate`, { reason: 'gone' });
    if (id === 'before') await stream.first('lease_lost', (data) => data.id === id);
  }
  await sleep(18_000);
  stopped.process.kill('SIGCONT');
  await stream.first('lease_lost', (data) => data.id === 'meanwhile');
  expect(stream.events.filter(({ event }) => event === 'lease_lost')).toHaveLength(2);
}, 90_000);
