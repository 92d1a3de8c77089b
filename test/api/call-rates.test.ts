import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { docket } from '../support/cli.ts';
import { type Client, eventually, type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api, databaseUrl } = await startTestSystem({}, { stores });

async function key(wanted: object): Promise<Client> {
  const made = await api.post('/v1/keys', { role: 'agent', ...wanted });
  expect(made.status).toBe(201);
  return api.as(made.body.key);
}
const calls = (client: Client, n: number) => Promise.all(repeat(n, () => client.get('/v1/session')));
const statuses = async (client: Client, n: number) => (await calls(client, n)).map(({ status }) => status);

test('a key makes as many calls a second as it may, and others go on beside it', async () => {
  const bounded = await key({ name: 'bounded', callsPerSecond: 10 });
  const free = await key({ name: 'free' });
  const began = performance.now();
  const [mine, theirs] = await Promise.all([calls(bounded, 50), statuses(free, 50)]);
  const taken = mine.filter(({ status }) => status === 200).length;
  expect(taken).toBeGreaterThanOrEqual(10);
  expect(taken).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - began) / 100));
  const refused = mine.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(50 - taken);
  for (const reply of refused) {
    expectProblem(reply, 'beyond', 'rate_limited');
    expect([reply.body.retryAfter, reply.headers.get('retry-after')]).toEqual([1, '1']);
  }
  expect(theirs.every((status) => status === 200)).toBe(true);
  await sleep(1_100);
  expect((await bounded.get('/v1/session')).status).toBe(200);
});

test('what a key may is shown with it, over HTTP and in the terminal', async () => {
  await key({ name: 'shown', callsPerSecond: 7 });
  const listed = (await api.get('/v1/keys')).body.items.find((k: Json) => k.name === 'shown');
  expect(listed.callsPerSecond).toBe(7);
  for (const callsPerSecond of [0, -1, 1.5, 'many', 1e9])
    expectProblem(await api.post('/v1/keys', { role: 'agent', callsPerSecond }), `${callsPerSecond}`, 422);

  const env = { DATABASE_URL: databaseUrl };
  const made = await docket(['key', 'create', '--role', 'agent', '--name', 'typed', '--calls-per-second', '3'], env);
  const typed = api.as(made.stdout.split('\n')[0] ?? '');
  expect(new Set(await statuses(typed, 20))).toEqual(new Set([200, 429]));
  expect((await docket(['key', 'list'], env)).stdout).toMatch(/ typed .* 3 calls a second/);
  const wrong = await docket(['key', 'create', '--role', 'agent', '--calls-per-second', 'many'], env);
  expect(wrong.stderr).toContain('--calls-per-second: many is not a whole number');
});

test('a call of a session counts for its key', async () => {
  const made = (await api.post('/v1/keys', { role: 'agent', callsPerSecond: 2 })).body;
  // a server that asks for no key looks at no cookie
  const asking = (await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api' })).api;
  const signed = await asking.post('/v1/session', { key: made.key });
  const cookie = String(signed.headers.get('set-cookie')).split(';')[0] ?? '';
  const call = () => fetch(`${asking.url}/v1/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  await eventually(async () => (await call()).status === 429, 5_000);
});
