import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { age, filesOf, linesOf } from '../support/retention.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { decided } from '../support/tickets.ts';

const archive = mkdtempSync(join(inject('dir'), 'archive-'));
const stores = await testStores();
const system = await startTestSystem({}, { stores, role: 'api' });
const { api, sql, databaseUrl } = system;
const startWorker = () =>
  startChild('worker', settingsFor(stores, { DOCKET_RETENTION_DAYS: 'ticket=10', DOCKET_ARCHIVE: archive }));
/** What holds up each clearing in its transaction, after its items were archived (db/functions/retention.sql). */
const SEQUENCER = 'select pg_advisory_xact_lock(7236003)';
const END_WAITERS =
  'select pg_terminate_backend(pid) from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))';

test('S4.10 a worker killed with -9 between archive and clearing: the next one clears what is archived, and nothing is lost', async () => {
  const ids = repeat(12, (n) => `old-${n}`);
  for (const id of ids) await decided(api, 'old', { id, body: { id } });
  const killed = await startWorker();
  const undone = 'select from item i where not is_done(i, published_to())';
  await eventually(async () => (await sql(undone)).length === 0, 60_000);
  await onDatabase(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(SEQUENCER);
    await age(system, 'old-%', 11);
    await eventually(async () => filesOf(archive).some((file) => file.endsWith('.ndjson.gz')), 90_000);
    await killed.end('SIGKILL');
    await client.query(END_WAITERS);
    await client.query('rollback');
  });
  for (const id of ids) expect((await api.get(`/v1/tickets/${id}`)).status).toBe(200);

  const next = await startWorker();
  await eventually(async () => (await sql('select from item')).length === 0, 120_000);
  const written = linesOf(archive);
  expect(new Set(written.map(({ id }) => id))).toEqual(new Set(ids));
  for (const line of written) expect(line).toMatchObject({ queue: 'old', body: { id: line.id }, result: 'ok' });
  expect(await next.end('SIGTERM')).toBe(0);
}, 300_000);
