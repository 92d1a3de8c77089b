import { expect, test } from 'vitest';
import { Wire } from '../beanstalkd/wire.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { lmstfyClient } from './client.ts';

// no clock comes by: neither the pacemaker nor a worker
const env = { LMSTFY_PORT: '0', BEANSTALKD_PORT: '0', DOCKET_PACEMAKER: 'off' };
const { api, running, sql } = await startTestSystem(env, { role: 'api' });
const { ask, publish, consume } = lmstfyClient(running.lmstfy?.port ?? 0);

const isOver = (number: string) =>
  eventually(async () => {
    const [row] = await sql('select deadline_at < clock_timestamp() as over from item where seq = $1', [number]);
    return row?.over;
  });

test('S3.8 a job whose time to live is over is handed out over no transport, even if no clock has come by', async () => {
  const ready = await publish('over', 'ready', { ttl: 1 });
  const delayed = await publish('over', 'delayed', { ttl: 1, delay: 1 });
  for (const number of [ready, delayed]) await isOver(number);
  expect((await consume('over')).status).toBe(404);
  expect((await consume('over,other', { count: 10 })).status).toBe(404);
  expect((await ask('GET', 'over/peek')).status).toBe(404);
  for (const topic of ['ns/over', ['ns/over', 'ns/other']])
    expect((await api.post('/v1/jobs', { command: 'pop', topic })).body.id).toBeNull();
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  await wire.ask('watch ns/over');
  expect(await wire.ask('reserve-with-timeout 0')).toBe('TIMED_OUT\r\n');
  for (const number of [ready, delayed]) expect(await wire.ask(`reserve-job ${number}`)).toBe('NOT_FOUND\r\n');
  wire.close();
});

test('S3.8 a reservation ends with the time to live', async () => {
  const number = await publish('held', 'x', { ttl: 3, tries: 9 });
  const popped = (await api.post('/v1/jobs', { command: 'pop', topic: 'ns/held' })).body;
  expect(popped.id).toBe(`ns/held:${number}`);
  const { wake_at, deadline_at } =
    (await sql('select wake_at, deadline_at from item where seq = $1', [number]))[0] ?? {};
  expect(wake_at).toEqual(deadline_at);
  await isOver(number);
  const { body } = await api.post('/v1/jobs', { command: 'touch', id: popped.id, token: popped.token });
  expect(body).toMatchObject({ success: false, code: 'lease_lost' });
});
