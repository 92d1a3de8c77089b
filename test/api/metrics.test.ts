import { expect, test } from 'vitest';
import { claimOne } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });

test('whatever the number of queues, a thousand have a line of their own', async () => {
  const queues = Array.from({ length: 1_010 }, (_, n) => `queue-${n}`);
  const work = queues[Symbol.iterator]();
  const claimAll = async () => {
    for (const queue of work) {
      await api.post(`/v1/queues/${queue}/tickets`, { body: 1 });
      await claimOne(api, queue, 'ann');
    }
  };
  await Promise.all(Array.from({ length: 16 }, claimAll));
  const lines = ((await api.get('/metrics')).body as string).match(/^docket_handed_out_total\{.*$/gm) ?? [];
  expect(lines).toHaveLength(1_001);
  expect(lines.find((line) => line.includes('"(others)"'))).toMatch(/ 10$/);
}, 60_000);
