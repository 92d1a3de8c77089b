import { describe, expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { phpKit } from '../support/clients/kits.ts';
import { runProgram } from '../support/clients/running.ts';
import { testClient } from '../support/clients/scenarios.ts';
import { startTestSystem } from '../support/system.ts';

const kit = phpKit();
const system = await startTestSystem();
const { api } = system;

describe.skipIf(!kit)('PHP', () => {
  if (!kit) return;
  testClient(system, kit);

  test('S3.5 a handler whose process dies is one that failed', async () => {
    const job = { topic: 'dies', id: 'dies', body: { fail: 'exit', failures: 1 } };
    await api.post('/v1/jobs', { command: 'add', ...job });
    const consumer = runProgram(kit, 'consume', { servers: [api.url], topics: 'dies' });
    await eventually(async () => (await api.get('/v1/jobs/dies')).body.state === 'finished');
    consumer.process.kill('SIGTERM');
    expect(await consumer.exited, consumer.output()).toBe(0);
    expect(consumer.lines('began').map((line) => line.attempt)).toEqual([1, 2]);
    expect(consumer.lines('error')).toMatchObject([{ text: expect.stringContaining('ended before'), job: 'dies' }]);
  });
});
