import { describe, expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { phpKit } from '../support/clients/kits.ts';
import { addWork } from '../support/clients/pulling.ts';
import { ended, runProgram } from '../support/clients/running.ts';
import { testClient } from '../support/clients/scenarios.ts';
import { startTestSystem } from '../support/system.ts';

const kit = phpKit();
const system = await startTestSystem();
const { api } = system;

describe('PHP', () => {
  testClient(system, kit);

  test('S3.5 a handler whose process dies is one that failed', async () => {
    const job = { topic: 'dies', id: 'dies', body: { fail: 'exit', failures: 1 } };
    await api.post('/v1/jobs', { command: 'add', ...job });
    const consumer = runProgram(kit, 'consume', { servers: [api.url], topics: 'dies' });
    await eventually(async () => (await api.get('/v1/jobs/dies')).body.state === 'finished');
    await ended(consumer);
    expect(consumer.lines('began').map((line) => line.attempt)).toEqual([1, 2]);
    expect(consumer.lines('error')).toMatchObject([{ text: expect.stringContaining('ended before'), job: 'dies' }]);
  });

  test('S4.5 a pull handler whose process dies is one that failed', async () => {
    await addWork(api, 'dora', 'dies', { fail: 'exit', failures: 1 });
    const puller = runProgram(kit, 'pull', { servers: [api.url], uid: 'dora' });
    await eventually(async () => puller.lines('ended').length === 1);
    await ended(puller);
    const [first, second] = puller.lines('began');
    expect(second).toMatchObject({ redo: true, logId: first.logId });
    expect(puller.lines('error')).toMatchObject([{ text: expect.stringContaining('ended before'), task: 'dies' }]);
  });
});
