import { expect, test } from 'vitest';
import { startChild } from '../support/child.ts';
import { numbered } from '../support/client.ts';
import { arrived, expectWhole, feed, follow, wholeFeed } from '../support/feed.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addMany } from '../support/tickets.ts';

const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });

test('S4.8 two API processes on one database: readers of both see one feed, and its end is the same', async () => {
  const env = { DATABASE_URL: stores.databaseUrl, TEMPORAL_ADDRESS: '127.0.0.1:9', LOG_LEVEL: 'silent' };
  const other = await startChild('api', env);
  const both = [api, other.api];
  const followers = await Promise.all([0, 1, 2, 3].map((n) => follow(both[n % 2] ?? api, 'after=0')));
  let done = false;
  // a reader who is told of a ticket sees it in the feed at once, wherever he asks
  const readAfterWrite = async (n: number) => {
    for (let k = 0; k < 15; k++) {
      const ids = await addMany(both[n % 2] ?? api, `q-${n}`, numbered(100, `x${n}-${k}-`));
      const behind = followers[n]?.lines.at(-1)?.seq ?? 0;
      const seen = await feed(both[(n + 1) % 2] ?? api, `after=${Math.max(0, behind)}&limit=10000`);
      const known = new Set([...(followers[n]?.lines ?? []), ...seen].map((line) => line.itemId));
      expect(ids.filter((id) => !known.has(id))).toEqual([]);
    }
  };
  const pages = both.map(async (client) => {
    while (!done) expectWhole(await wholeFeed(client, 500));
  });
  await Promise.all([0, 1, 2, 3].map(readAfterWrite));
  done = true;
  await Promise.all(pages);
  const [one, two] = await Promise.all(both.map((client) => wholeFeed(client)));
  expect(one).toHaveLength(6_000);
  expectWhole(one ?? []);
  expect(two).toEqual(one);
  for (const followed of followers) {
    await arrived(followed, 6_000);
    expect(followed.lines).toEqual(one);
  }
  expect((await sql('select count(*)::int as n, max(seq)::int as newest from feed'))[0]).toEqual({
    n: 6_000,
    newest: 6_000,
  });
  expect(await other.end('SIGTERM')).toBe(0);
  for (const n of [1, 3]) expect(await followers[n]?.ended).toBeUndefined();
});
