import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, type Json } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { testStores } from '../support/system.ts';

test("the log's line of a request says who called, from where and about what; probes are not logged at info", async () => {
  const stores = await testStores();
  const child = await startChild('api', settingsFor(stores, { LOG_LEVEL: 'info' }));
  const { id, key } = await createKey(openTestDb(stores.databaseUrl), {
    ...{ name: 'desk', role: 'reviewer', subject: 'anna' },
  });
  const lines = (): Json[] =>
    child
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line));
  for (const path of ['/livez', '/readyz', '/metrics']) await child.api.get(path);
  await child.api.as(key).get('/v1/tickets/no%20one');
  // what a role may not do is logged with the key, too
  await child.api.as(key).get('/v1/keys');
  await eventually(async () => lines().length >= 2);
  const known = { key: id, subject: 'anna', address: expect.stringMatching(/127\.0\.0\.1$|^::1$/) };
  expect(lines()).toEqual([
    expect.objectContaining({ ...known, route: '/v1/tickets/:id', item: 'no one' }),
    expect.objectContaining({ ...known, route: '/v1/keys', status: 403 }),
  ]);
}, 120_000);
