import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { startPostgres } from '../../cli/servers/postgres.ts';
import { settingsFor, startChild, startOutbox } from '../support/child.ts';
import { docket } from '../support/cli.ts';
import { eventually } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { needDebian } from '../support/debian.ts';
import { atEndOfFile } from '../support/endings.ts';
import { ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { pythonWith } from '../support/python.ts';
import { startTestSystem, testStores } from '../support/system.ts';

needDebian('php-cli', 'php-pgsql', 'postgresql-client');
const python = pythonWith(inject('cacheDir'), 'outbox', ['sqlalchemy==2.1.9', 'psycopg[binary]==3.3.9']);
const writer = (name: string) => join(import.meta.dirname, 'writers', name);

/** Rows of each of the three programs, rolled back ones among them. */
const EACH = 3_400;

const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { sql, api } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });

// servers that are killed: of the callers' database and of the API
const dir = join(ownFolder('outbox'), 'postgres');
mkdirSync(dir);
const [pgPort, apiPort] = [await lastingPort(), await lastingPort()];
const startDatabase = () => startPostgres(join(dir, 'data'), { port: pgPort });
let postgres = await startDatabase();
atEndOfFile(() => postgres.stop());
const { url } = postgres;
const env = settingsFor(stores, { PORT: String(apiPort), LOG_LEVEL: 'silent' });
let server = await startChild('api', env);

const run = promisify(execFile);
const kinds = ['ticket', 'job', 'case'] as const;

/** A transaction as psql reads it. */
function transaction(from: number, to: number): string {
  const lines: string[] = [];
  for (let n = from; n < to; n++) {
    const [kind, id] = [kinds[n % 3] as string, `psql-${n}`];
    const more = kind === 'case' ? `'[]', ` : '';
    lines.push(`select docket_outbox.add_${kind}('written', '${id}', ${more}'{"by": "psql"}');`);
    lines.push(`insert into written values ('${kind}', '${id}');`);
  }
  return ['begin;', ...lines, Math.random() < 0.5 ? 'commit;' : 'rollback;', 'select pg_sleep(random() / 20);'].join(
    '\n',
  );
}

async function writeByPsql(): Promise<void> {
  for (let done = 0; done < EACH; ) {
    const script: string[] = [];
    for (let n = 0; n < 20 && done < EACH; n++) {
      const to = Math.min(EACH, done + 1 + Math.floor(Math.random() * 20));
      script.push(transaction(done, to));
      done = to;
    }
    const psql = run('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', '-f', '-']);
    psql.child.stdin?.on('error', () => {}).end(script.join('\n'));
    await psql.catch(() => sleep(200));
  }
}

test('10,000 rows of psql, PHP and Python, half of them rolled back, all killed with -9 meanwhile: the committed ones, once', async () => {
  expect((await docket(['outbox', 'install', url])).code).toBe(0);
  await rowsOf(url, 'create table written (kind text, id text, primary key (kind, id))');
  await api.cases.court('written');
  let writing = true;
  const writers = Promise.all([
    writeByPsql(),
    run('php', [writer('writer.php'), url, 'php', String(EACH)]),
    run(python, [writer('writer.py'), url, 'python', String(EACH)]),
  ]).finally(() => {
    writing = false;
  });
  const followers = [startOutbox(url, server.api.url), startOutbox(url, server.api.url)];
  const kill = {
    async follower() {
      await followers.shift()?.end('SIGKILL');
      followers.push(startOutbox(url, server.api.url));
    },
    async api() {
      await server.end('SIGKILL');
      server = await startChild('api', env);
    },
    async postgres() {
      process.kill(postgres.pid, 'SIGKILL');
      await postgres.ended;
      postgres = await eventually(startDatabase);
    },
  };
  let kills = 0;
  for (; writing; kills++) {
    await sleep(Math.random() * 1_000);
    await kill[(['follower', 'api', 'follower', 'postgres'] as const)[kills % 4] as keyof typeof kill]();
  }
  await writers;
  expect(kills).toBeGreaterThan(4);
  const waiting = () => rowsOf<{ n: number }>(url, 'select count(*)::int as n from docket_outbox.message');
  await eventually(async () => (await waiting())[0]?.n === 0, 60_000);
  for (const follower of followers) {
    // one that is just being started knows of no signal yet
    await eventually(async () => expect(follower.output()).toContain('is ready'));
    expect(await follower.end('SIGTERM')).toBe(0);
  }

  const written = await rowsOf(url, 'select kind, id from written order by kind, id collate "C"');
  expect(written.length).toBeGreaterThan(EACH);
  expect(written.length).toBeLessThan(2 * EACH);
  expect(await sql(`select kind, id from item order by kind, id collate "C"`)).toEqual(written);
  const twice = `select kind, item_id from event where type = 'created' group by kind, item_id having count(*) > 1`;
  expect(await sql(twice)).toEqual([]);
  expect(await rowsOf(url, 'select * from docket_outbox.refused')).toEqual([]);
}, 300_000);
