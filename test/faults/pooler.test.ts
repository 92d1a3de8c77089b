import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../cli/servers/ports.ts';
import { docket, expectFailure } from '../support/cli.ts';
import { eventually } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { needDebian } from '../support/debian.ts';
import { atEndOfFile } from '../support/endings.ts';
import { ownFolder } from '../support/own.ts';
import { testStores } from '../support/system.ts';

needDebian('pgbouncer');
const { databaseUrl } = await testStores();

/** pgbouncer before a database. @returns the URL that leads through it */
async function pooled(mode: 'transaction' | 'session', ignored: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const dir = ownFolder('pgbouncer');
  chmodSync(dir, 0o777); // it does not run as root
  const listen = await freePort();
  const name = pathname.slice(1);
  const file = join(dir, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${port} dbname=${name} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = ${ignored}
`,
  );
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('/usr/sbin/pgbouncer', [...asUser, file], { stdio: 'ignore' });
  atEndOfFile(() => void child.kill('SIGKILL'));
  const url = `postgres://${username}@127.0.0.1:${listen}/${name}`;
  await eventually(async () => (await rowsOf(url, 'select 1 as one')).length);
  return url;
}

const WHY = /DATABASE_URL: a pooler .*shares sessions between transactions.* in DATABASE_URL/;

test('S0.9 behind pgbouncer in transaction mode no program starts, and it says why', async () => {
  expect(execFileSync('/usr/sbin/pgbouncer', ['--version']).toString()).toMatch(/PgBouncer/);
  // as it comes, and with the usual fix
  for (const ignored of ['', 'options,extra_float_digits']) {
    const url = await pooled('transaction', ignored);
    const env = { DATABASE_URL: url, TEMPORAL_ADDRESS: '127.0.0.1:1', PORT: '0' };
    for (const command of ['migrate', 'api', 'worker']) expectFailure(await docket([command], env), WHY);
  }
}, 180_000);

test('S0.9 behind pgbouncer in session mode the schema is migrated', async () => {
  const url = await pooled('session', 'options,extra_float_digits');
  expect(await docket(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
}, 120_000);
