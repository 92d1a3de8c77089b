import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate, SchemaAheadError } from '../db/migrate.ts';
import { commandLine, isAlive } from './children.ts';
import { findTemporalCli } from './cli.ts';
import type { Config } from './config.ts';
import { startPostgres } from './postgres.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { startTemporal } from './temporal.ts';

export interface RunningSystem extends RunningProcess {
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string | null;
}

/**
 * Everything on one machine: PostgreSQL and Temporal (unless servers of your own are given), the
 * migrations, worker and API. Ends what it started in the reverse order.
 * @throws Error with a message for the terminal
 */
export async function startSystem(config: Config, say: (line: string) => void): Promise<RunningSystem> {
  const unlock = lock(config.dataDir);
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.reverse().splice(0)) await part.stop();
    unlock();
  };
  try {
    const [postgres, temporal] = await Promise.all([
      config.databaseUrl ? undefined : startPostgres(join(config.dataDir, 'postgres')).then(keep(started)),
      config.temporalAddress ? undefined : ownTemporal(config, say).then(keep(started)),
    ]);
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    const temporalUiUrl = config.temporalUiUrl ?? temporal?.uiUrl ?? null;
    const temporalAddress = config.temporalAddress ?? temporal?.address ?? '';
    writeFileSync(join(config.dataDir, 'database.url'), `${databaseUrl}\n`, { mode: 0o600 });
    await migrate(databaseUrl).catch((error: unknown) => {
      if (!(error instanceof SchemaAheadError && error.compatible)) throw error;
      say(error.message);
    });
    const running = await startProcess('all', config, { databaseUrl, temporalAddress, temporalUiUrl });
    started.push(running);
    return { ...running, databaseUrl, temporalAddress, temporalUiUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ownTemporal(config: Config, say: (line: string) => void) {
  const cli = await findTemporalCli({ given: config.temporalCli, cacheDir: config.cacheDir, say });
  return startTemporal({
    cli,
    dir: join(config.dataDir, 'temporal'),
    port: config.temporalPort,
    uiPort: config.temporalUiPort,
    namespace: config.temporalNamespace,
  });
}

const keep =
  <T extends { stop(): Promise<void> }>(started: { stop(): Promise<void> }[]) =>
  (part: T): T => {
    started.push(part);
    return part;
  };

/**
 * One system per data folder. A pid left by a killed run doesn't count.
 * @throws when another one runs on it
 */
function lock(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'docket.pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid !== process.pid && pid > 1 && isAlive(pid) && commandLine(pid).includes('docket'))
      throw new Error(
        `another Docket (process ${pid}) runs on ${dataDir}: stop it, or set DOCKET_DATA to another folder`,
      );
  }
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}
