import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test, vi } from 'vitest';
import { startPostgres } from '../../cli/servers/postgres.ts';
import { migrate } from '../../db/migrate.ts';
import { docket, type Ended, ROOT, run } from '../support/cli.ts';
import { type Client, claimOne, eventTypes, eventually, type Json } from '../support/client.ts';
import { useAllKinds } from '../support/doctor.ts';
import { atEndOfFile } from '../support/endings.ts';
import { OwnTemporal, ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { published } from '../support/published.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import { add, addMany, decide, ticket } from '../support/tickets.ts';

vi.setConfig({ testTimeout: 400_000 });

const POSTGRES = join(ownFolder('restore'), 'postgres');
const port = await lastingPort();
const startStore = () => startPostgres(POSTGRES, { port });
let postgres = await startStore();
const temporal = await OwnTemporal.start();
const databaseUrl = postgres.url;
await migrate(databaseUrl);
let system: TestSystem;
const stop = () => Promise.all([postgres.stop(), temporal.server.stop()]);
atEndOfFile(stop);

const start = async (namespace: string): Promise<Client> => {
  const stores = { databaseUrl, namespace, temporalAddress: temporal.server.address };
  system = await startTestSystem({ LOG_LEVEL: 'silent' }, { stores });
  return system.api;
};

/** With the owners: as root the database's is another user. */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
async function restore(store: string): Promise<void> {
  rmSync(store, { recursive: true });
  await copy(`${store}.backup`, store);
}

/** The commands that docs/operations.md tells whoever has restored a backup to run, in their order. */
function documented(heading: string): string[] {
  const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const [, section = ''] = text.split(`${heading}\n`);
  const [steps = ''] = /^\d\. [\s\S]*?(?=\n\n)/m.exec(section) ?? [];
  return [...steps.matchAll(/`((?:docket|temporal) [^`]+)`/g)].map(([, command = '']) => command);
}

/** Runs a command as it is written, for the servers of this test. */
async function follow(command: string, namespace: string): Promise<Ended> {
  const [program = '', ...args] = command.split(' ');
  const env = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal.server.address, TEMPORAL_NAMESPACE: namespace };
  const ended = program === 'docket' ? await docket(args, env) : await run([inject('temporalCli'), ...args], env);
  expect([command, ended.code, ended.stderr]).toEqual([command, 0, '']);
  return ended;
}

/** Follows all of these steps, and starts Docket after the one that says so, or at once. */
async function restored(steps: string[], namespace: string, startsAfter?: string): Promise<Client> {
  let api = startsAfter ? undefined : await start(namespace);
  for (const command of steps) {
    if (command.startsWith('docket doctor')) await published(system.running, 90_000);
    const { stdout } = await follow(command, namespace);
    if (command.startsWith('docket doctor')) expect(stdout).toMatch(/Nothing is broken\.\n$/);
    if (command === startsAfter) api = await start(namespace);
  }
  if (!api) throw new Error(`no step is ${startsAfter}`);
  // nothing was left to repair by hand, and nothing comes up afterwards
  expect((await follow('docket doctor --deep', namespace)).stdout).toMatch(/Nothing is broken\.\n$/);
  return api;
}

const TABLES = ['item', 'event', 'lease', 'vote', 'task', 'delivery', 'review', 'review_index', 'review_callback'];
/** All that callers were told. */
const acknowledged = () => Promise.all(TABLES.map((name) => system.sql(`select t::text from ${name} t order by 1`)));

const workflowOf = async (api: Client, id: string): Promise<Json> => (await api.get(`/v1/tickets/${id}/workflow`)).body;

/** What was acknowledged after the backup. */
async function goOn(api: Client) {
  const held = await claimOne(api, 'own', 'ben');
  expect((await decide(api, held)).status).toBe(200);
  const late = await claimOne(api, 'own', 'ben');
  await add(api, 'own', { id: 'later' });
  await eventually(async () => (await workflowOf(api, 'later')).status === 'running');
  await published(system.running, 60_000);
  // a restore takes longer than the minute for which workflows may be behind
  await system.sql(`update item set updated_at = updated_at - interval '2 minutes' where id = $1`, [held.id]);
  return { held, late };
}

test('S0.9 a backup of Temporal, or of PostgreSQL, that is older than the other store: the documented steps put it right', async () => {
  let api = await start('default');
  await useAllKinds(api, 'x');
  await api.put('/v1/topics/x-topic/schedules/daily', { cron: '0 4 * * *', body: 1 });
  await addMany(api, 'own', [
    { id: 'own-1', deadlineSeconds: 3_600 },
    { id: 'own-2' },
    { id: 'own-3', delaySeconds: 3_600 },
  ]);
  await published(system.running, 60_000);
  const before = await acknowledged();
  await system.stop();
  await stop();
  for (const store of [POSTGRES, temporal.dir]) await copy(store, `${store}.backup`);

  postgres = await startStore();
  await temporal.start();
  api = await start('default');
  const { held, late } = await goOn(api);

  await system.stop();
  await temporal.server.stop();
  await restore(temporal.dir);
  await temporal.start();
  api = await restored(documented('### After a restore of Temporal'), 'default');
  expect((await workflowOf(api, 'later')).status).toBe('running');
  expect((await workflowOf(api, held.id)).status).toBe('completed');
  expect(await eventTypes(api, late.id)).toEqual(['created', 'claimed']);

  await system.stop();
  await postgres.stop();
  await restore(POSTGRES);
  postgres = await startStore();
  api = await restored(documented('### After a restore of PostgreSQL'), 'docket-2', 'docket migrate');
  expect(await acknowledged()).toEqual(before);
  expect((await api.get('/v1/tickets/later')).status).toBe(404);
  // tokens of what never was
  for (const lost of [held, late]) expect((await decide(api, lost)).body.code).toBe('lease_lost');
  expect((await ticket(api, held.id)).state).toBe('waiting');
  expect((await workflowOf(api, held.id)).status).toBe('running');
  const again = await claimOne(api, 'own', 'ben');
  expect((await decide(api, again)).status).toBe(200);
  await eventually(async () => (await workflowOf(api, again.id)).status === 'completed');
});
