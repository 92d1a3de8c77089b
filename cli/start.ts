import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../runtime/config.ts';
import { migrate, SchemaAheadError } from '../runtime/database.ts';
import { databaseFailure, needFolder } from '../runtime/failures.ts';
import { readable } from './readable.ts';
import { commandLine, isAlive } from './servers/children.ts';
import { lastingPort, listenAddresses, needFree } from './servers/ports.ts';
import { startPostgres } from './servers/postgres.ts';
import { reachableData, serverUser } from './servers/server-user.ts';
import { keepRunning, type Part } from './servers/supervisor.ts';
import { startTemporal } from './servers/temporal.ts';
import { findTemporalCli } from './servers/temporal-cli.ts';
import { leaveAddress } from './temporal.ts';

/**
 * Runs everything on one machine: PostgreSQL and Temporal (unless settings name other servers), the migrations, worker
 * and API. Servers that end by themselves are started again, on the same ports and data. Ends its parts in the reverse
 * order of their start.
 * @param signal ends the start
 * @throws Error with a message for the terminal; nothing is left running then
 */
export async function startSystem(config: Config, say: (line: string) => void, signal: AbortSignal) {
  const started: Stoppable[] = [lock(config.dataDir)];
  const stop = async () => {
    for (const part of started.reverse().splice(0)) await part.stop();
  };
  try {
    await needPorts(config);
    const servers = startServers(config, say, started, signal);
    // its code is loaded while the servers start
    const process = import('./process.ts');
    const { postgres, temporal } = await servers;
    const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
    const temporalUiUrl = config.temporalUiUrl ?? temporal?.uiUrl ?? null;
    const temporalAddress = config.temporalAddress ?? temporal?.address ?? '';
    writeFileSync(join(config.dataDir, 'database.url'), `${databaseUrl}\n`, { mode: 0o600 });
    leaveAddress(config.dataDir, temporalAddress);
    await migrate(databaseUrl).catch((error: unknown) => {
      if (!(error instanceof SchemaAheadError && error.compatible))
        throw databaseFailure(error, { url: databaseUrl, setting: 'DATABASE_URL' });
      say(error.message);
    });
    signal.throwIfAborted();
    // its own Temporal has no callers but those of this machine
    const nexusQueues = temporal?.nexus && config.nexusQueues.length === 0 ? ['*'] : config.nexusQueues;
    if (temporal?.nexus === false) say('Temporal: this version has no Nexus, so no workflow can call Docket by it');
    const { startProcess } = await process;
    const running = await startProcess(
      'all',
      { ...config, nexusQueues },
      { databaseUrl, temporalAddress, temporalUiUrl },
      readable,
    );
    started.push(running);
    signal.throwIfAborted();
    return { ...running, databaseUrl, temporalAddress, temporalUiUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Checked before the servers are started: that may take minutes, and would then fail on a port that is taken. */
async function needPorts(config: Config): Promise<void> {
  for (const address of Object.values(listenAddresses(config))) if (address) await needFree(address);
}

interface Stoppable {
  stop(): void | Promise<void>;
}

/** Both servers at once. When one fails, the start of the other is ended too. */
async function startServers(config: Config, say: (line: string) => void, started: Stoppable[], signal: AbortSignal) {
  const failed = new AbortController();
  const giveUp = AbortSignal.any([signal, failed.signal]);
  const start = async <P extends Part>(name: string, prepare: () => Promise<(signal: AbortSignal) => Promise<P>>) => {
    try {
      const { first, stop } = await keepRunning(name, await prepare(), { say, signal: giveUp });
      started.push({ stop });
      return first;
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const starting = [
    config.databaseUrl ? undefined : start('PostgreSQL', () => ownPostgres(config, say, started)),
    config.temporalAddress ? undefined : start('Temporal', () => ownTemporal(config, say, giveUp)),
  ] as const;
  // both, so that every server that comes up is in `started`
  await Promise.allSettled(starting);
  giveUp.throwIfAborted();
  const [postgres, temporal] = await Promise.all(starting);
  return { postgres, temporal };
}

async function ownPostgres(config: Config, say: (line: string) => void, started: Stoppable[]) {
  const data = reachableData(serverUser(), join(config.dataDir, 'postgres'), say);
  // a copied data folder has the same link
  if (dirname(data) !== config.dataDir) started.push(lock(dirname(data)));
  const port = await lastingPort();
  return (signal: AbortSignal) => startPostgres(data, { port, say, signal });
}

async function ownTemporal(config: Config, say: (line: string) => void, searching: AbortSignal) {
  const { temporalCli: given, cacheDir, temporalNamespace: namespace } = config;
  const cli = await findTemporalCli({ given, cacheDir, say, signal: searching });
  const port = config.temporalPort || (await lastingPort());
  const uiPort = config.temporalUiPort || (await lastingPort());
  const dir = join(config.dataDir, 'temporal');
  return (signal: AbortSignal) => startTemporal({ cli, dir, port, uiPort, namespace, signal });
}

/**
 * Allows one system per data folder. A pid that a killed run has left does not count.
 * @throws Error when another one runs on it
 */
function lock(dataDir: string): Stoppable {
  needFolder(dataDir, 'DOCKET_DATA');
  const file = join(dataDir, 'docket.pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid !== process.pid && pid > 1 && isAlive(pid) && commandLine(pid).includes('docket'))
      throw new Error(
        `DOCKET_DATA: another Docket (process ${pid}) runs on ${dataDir}; stop it, or set DOCKET_DATA to another folder`,
      );
  }
  writeFileSync(file, String(process.pid));
  return { stop: () => rmSync(file, { force: true }) };
}
