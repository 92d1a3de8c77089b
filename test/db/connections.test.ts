import { expect, test } from 'vitest';
import { repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { running, sql } = await startTestSystem({}, { role: 'api' });
const { db } = running.runtime;
const backends = () =>
  sql<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name like 'docket %' order by pid",
  );

test('S0.10 a statement that PostgreSQL refuses costs no connection', async () => {
  const refused = () => db.run('get_items', { kind: 'ticket', ids: ['\0'] });
  // as many connections as that takes
  await Promise.all(repeat(20, () => refused().catch(() => {})));
  const before = await backends();
  for (let n = 0; n < 20; n++) await expect(refused()).rejects.toMatchObject({ code: '22021' });
  expect(await backends()).toEqual(before);
  expect(await db.run('get_items', { kind: 'ticket', ids: ['none'] })).toEqual([]);
});
