import { expect, inject, test } from 'vitest';
import { type DocketChild, startChild } from '../support/child.ts';
import { testStores } from '../support/system.ts';
import { lmstfyClient } from './client.ts';

const JOBS = 600;

test(`S3.4 S3.8 one of two servers killed with -9 while ${JOBS} jobs run over lmstfy: none lost, every job acknowledged`, async () => {
  const stores = await testStores();
  const env = {
    DATABASE_URL: stores.databaseUrl,
    TEMPORAL_ADDRESS: stores.temporalAddress,
    TEMPORAL_NAMESPACE: stores.namespace,
    DOCKET_CACHE: inject('cacheDir'),
    LMSTFY_PORT: '0',
  };
  const [one, two] = await Promise.all([startChild('api', env), startChild('api', env)]);
  const clients = [one, two].map((child: DocketChild) => {
    const printed = /, lmstfy 127\.0\.0\.1:(\d+)/.exec(child.output());
    return lmstfyClient(Number(printed?.[1]));
  });
  const body = JSON.stringify(Array.from({ length: 60 }, (_, n) => n));
  for (let at = 0; at < JOBS; at += 60)
    expect(
      (await clients[at % 120 === 0 ? 0 : 1]?.ask('PUT', 'many/bulk', { query: { tries: 20 }, body }))?.status,
    ).toBe(201);
  const acknowledged = new Set<string>();
  let killed = false;
  const work = async (n: number) => {
    for (let empty = 0; empty < 3; ) {
      // the other one, once this one is gone
      for (const { consume, ack } of n % 2 === 0 ? clients : clients.toReversed())
        try {
          const { status, body: jobs } = await consume('many', { ttr: 2, timeout: 3, count: 5 });
          empty = status === 200 ? 0 : empty + 1;
          for (const { job_id } of status === 200 ? jobs : [])
            if ((await ack('many', job_id)) === 204) acknowledged.add(job_id);
          if (acknowledged.size > JOBS / 3 && !killed) {
            killed = true;
            void one.end('SIGKILL');
          }
          break;
        } catch {
          // that server is gone
        }
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => work(n)));
  expect(killed).toBe(true);
  const { body: stats } = await two.api.get(`/v1/topics/${encodeURIComponent('ns/many')}/stats`);
  // acknowledged after its TTR, when nobody had it, a job is called off
  expect(stats.finished + stats.deleted).toBe(JOBS);
  expect(stats).toMatchObject({ total: JOBS, ready: 0, delayed: 0, reserved: 0, buried: 0 });
  expect(await two.end('SIGTERM')).toBe(0);
}, 120_000);
