import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { isAlive } from '../../cli/servers/children.ts';
import { type DocketChild, startChild } from '../support/child.ts';
import { claimOne, eventTypes, eventually } from '../support/client.ts';
import { ownFolder } from '../support/own.ts';
import { pidIn, processesWith } from '../support/processes.ts';
import { published } from '../support/published.ts';
import { startTestSystem, testStores } from '../support/system.ts';

describe('npm start', () => {
  const data = join(ownFolder('start'), 'data');
  const env = { DOCKET_DATA: data, TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0', DOCKET_CACHE: inject('cacheDir') };
  let docket: DocketChild;

  test('S0.9 killed with -9 and started again: nothing is lost, and no second server is left', async () => {
    docket = await startChild('start', env);
    await docket.api.put('/v1/queues/kill', { leaseSeconds: 600 });
    for (let n = 0; n < 20; n++) await docket.api.post('/v1/queues/kill/tickets', { id: `k${n}`, body: { n } });
    await docket.api.post('/v1/queues/kill/tickets', { id: 'due', body: {}, delaySeconds: 2 });
    const held = await claimOne(docket.api, 'kill', 'anna');
    const decided = await claimOne(docket.api, 'kill', 'ben');
    await docket.api.post(`/v1/tickets/${decided.id}/decide`, { token: decided.lease.token, decision: 'x' });
    const old = (['postgres/postmaster.pid', 'temporal/temporal.pid'] as const).map((file) => pidIn(data, file));
    await docket.end('SIGKILL');

    docket = await startChild('start', env);
    expect(old.some(isAlive)).toBe(false);
    const { body: stats } = await docket.api.get('/v1/queues/kill/stats');
    expect(stats.waiting + stats.delayed).toBe(19);
    expect(stats).toMatchObject({ held: 1, decided: 1 });
    expect(await claimOne(docket.api, 'kill', 'anna')).toMatchObject({
      id: held.id,
      resumed: true,
      lease: { token: held.lease.token },
    });
    await eventually(async () => (await eventTypes(docket.api, 'due')).includes('available'));
    for (const id of [held.id, 'due'])
      await eventually(
        async () => (await docket.api.get(`/v1/tickets/${id}/workflow`)).body.status === 'running',
        40_000,
      );
  }, 120_000);

  test('S0.9 a second start on the same data folder is refused', async () => {
    await expect(startChild('start', env)).rejects.toThrow(/another Docket/);
    expect(await docket.end('SIGTERM')).toBe(0);
    expect(processesWith(data)).toEqual([]);
  });
});

test('S0.9 an API process killed right after its commits: what it committed is published', async () => {
  const stores = await testStores();
  const { api, running } = await startTestSystem({}, { stores });
  // this one never reaches Temporal
  const lonely = await startChild('api', { DATABASE_URL: stores.databaseUrl, TEMPORAL_ADDRESS: '127.0.0.1:9' });
  for (let n = 0; n < 30; n++) await lonely.api.post('/v1/queues/sweep/tickets', { id: `s${n}`, body: {} });
  await lonely.end('SIGKILL');
  await published(running, 40_000);
  for (let n = 0; n < 30; n += 7)
    await eventually(async () => (await api.get(`/v1/tickets/s${n}/workflow`)).body.status === 'running');
}, 90_000);
