import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../cli/servers/ports.ts';
import { startPostgres } from '../../cli/servers/postgres.ts';
import { findSite } from '../../cli/servers/site.ts';
import { NEXUS_SETTINGS } from '../../cli/servers/temporal.ts';
import { findTemporalCli } from '../../cli/servers/temporal-cli.ts';
import { migrate } from '../../db/migrate.ts';
import { workflowBundle } from '../../worker/worker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a server whose database `docket` is migrated and empty: the template of all others. */
    postgres: string;
    temporal: string;
    temporalCli: string;
    cacheDir: string;
    /** A folder that is removed after the run. */
    dir: string;
  }
}

/** A run without its servers ends here, with the reason alone: vitest would add stacks and wait for what was started. */
export default async function servers(project: TestProject) {
  try {
    return await startServers(project);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** One PostgreSQL and one Temporal for the whole run, on free ports and in a folder of their own. */
async function startServers(project: TestProject) {
  const cacheDir = process.env.DOCKET_CACHE || join(homedir(), '.cache', 'docket');
  const say = (line: string) => console.log(line);
  // first: nothing has been made that would have to be removed
  const cli = await findTemporalCli({ given: process.env.TEMPORAL_CLI, cacheDir, say });
  const dir = mkdtempSync(join(tmpdir(), 'docket-test-'));
  chmodSync(dir, 0o755); // as root the database runs as another user
  mkdirSync(join(dir, 'pg'));
  // fsync is off here: what a crash of the machine would lose is not what these tests ask
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' };
  const [postgres] = await Promise.all([
    startPostgres(join(dir, 'pg', 'postgres'), { settings, say }),
    workflowBundle(cacheDir),
    findSite(cacheDir),
  ]);
  await migrate(postgres.url);
  const admin = new pg.Client({ connectionString: new URL('/postgres', postgres.url).href });
  await admin.connect();
  await admin.query('create sequence if not exists test_file');
  await admin.end();
  const temporal = await startTestTemporal(cli, dir);
  project.provide('postgres', postgres.url);
  project.provide('temporal', temporal.address);
  project.provide('temporalCli', cli);
  project.provide('cacheDir', cacheDir);
  project.provide('dir', dir);
  return async () => {
    temporal.kill();
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  };
}

/**
 * In a file that is never synced: in memory all is lost with the last connection, which a busy machine makes time out. Each
 * system registers a namespace of its own (test/support/system.ts).
 */
async function startTestTemporal(cli: string, dir: string) {
  const port = await freePort();
  const child = spawn(
    cli,
    [
      ...['server', 'start-dev', '--headless', '--port', String(port), '--log-level', 'error'],
      ...['--db-filename', join(dir, 'temporal.db')],
      ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=0'],
      ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
      ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
      ...['matching.useNewMatcher=true', ...NEXUS_SETTINGS].flatMap((set) => ['--dynamic-config-value', set]),
    ],
    // memory is there, processors are not: Go collects garbage a quarter as often
    { stdio: 'ignore', env: { ...process.env, GOGC: '400' } },
  );
  const address = `127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: '2s' });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      await connection.close();
      return { address, kill: () => child.kill('SIGKILL') };
    } catch (error) {
      if (tries > 300) throw error;
      await sleep(100);
    }
  }
}
