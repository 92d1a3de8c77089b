import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { NEXUS_TASK_QUEUE, QUEUE_ATTRIBUTE } from '../../runtime/followers/publisher.ts';
import { endLeftover, spawnServer, untilReady } from './children.ts';
import { lastingPort, needFree } from './ports.ts';

const HOST = '127.0.0.1';
const ASKED_EVERY_MS = 10_000;
/** 255 characters, the longest id, of four bytes each. */
const MAX_ID_BYTES = 1020;

export type TemporalServer = Awaited<ReturnType<typeof startTemporal>>;

/**
 * For Nexus operations. With the new matcher a call fails for good while no worker polls, unless that counts as none for
 * ever; failed calls are tried again each half minute at least, not each hour.
 */
export const NEXUS_SETTINGS = [
  'matching.queryPollerUnavailableWindow="2562047h47m16.854775807s"',
  'component.nexusoperations.retryPolicy.maxInterval="30s"',
  'component.callbacks.retryPolicy.maxInterval="30s"',
];

interface Options {
  cli: string;
  /** Its database and pid file live here. */
  dir: string;
  /** 0: any free one. */
  port: number;
  uiPort: number;
  namespace: string;
  /** The time without an answer after which it counts as ended. */
  patienceMs?: number;
  /** Ends the start. */
  signal?: AbortSignal;
}

/**
 * Runs Temporal's development server on a SQLite file in `dir`, with the durability of a real one
 * (WAL, synchronous). It keeps its workflows over a restart.
 * @returns `nexus`: whether workflows can call Docket by Nexus; older versions have none, or have it switched off
 * @throws with a message for the terminal when a port is taken or the server doesn't come up
 */
export async function startTemporal(o: Options) {
  const dir = resolve(o.dir);
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'temporal.db');
  const pidFile = join(dir, 'temporal.pid');
  await endLeftover(pidFile, file, 'SIGTERM');
  const port = o.port || (await lastingPort());
  const uiPort = o.uiPort || (await lastingPort());
  for (const [setting, wanted] of Object.entries({ TEMPORAL_PORT: port, TEMPORAL_UI_PORT: uiPort }))
    await needFree({ host: HOST, port: wanted, settings: { host: setting, port: setting } });
  const server = await spawnServer({
    ...{ command: o.cli, signal: 'SIGTERM', graceMs: 15_000, pidFile },
    args: [
      ...['server', 'start-dev', '--ip', HOST, '--port', String(port)],
      ...['--ui-ip', HOST, '--ui-port', String(uiPort), '--db-filename', file],
      ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=2'],
      ...['--search-attribute', `${QUEUE_ATTRIBUTE}=Keyword`, '--namespace', o.namespace, '--log-level', 'error'],
      // its length is counted in bytes, that of names in characters
      ...['--dynamic-config-value', `limit.maxIDLength=${MAX_ID_BYTES}`],
      // workflow tasks come in bursts, which the defaults delay on a small machine
      ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
      ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
      // without it priority keys have no effect
      ...['--dynamic-config-value', 'matching.useNewMatcher=true'],
      ...NEXUS_SETTINGS.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
  });
  const address = `${HOST}:${port}`;
  let nexus = false;
  try {
    await untilReady('Temporal', server, () => askTemporal(address, o.namespace), { most: 300, signal: o.signal });
    nexus = await makeEndpoint(address, o.namespace);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const silent = untilSilent(() => askTemporal(address, o.namespace), server.ended, o.patienceMs ?? 60_000);
  return { ...server, ended: Promise.race([server.ended, silent]), address, uiUrl: `http://${HOST}:${uiPort}`, nexus };
}

/**
 * A server that runs but answers nothing must be restarted: the SQLite driver of some versions gets stuck for good
 * (temporalio/temporal#9198).
 * @returns the reason, once it has answered nothing for so long; that of `ended`, if it ends before
 */
async function untilSilent(ask: () => Promise<void>, ended: Promise<string>, patienceMs: number): Promise<string> {
  let running = true;
  void ended.then(() => {
    running = false;
  });
  let answered = performance.now();
  let failure = '';
  while (running && performance.now() - answered < patienceMs) {
    await sleep(Math.min(ASKED_EVERY_MS, patienceMs / 4), undefined, { ref: false });
    const asked = performance.now();
    try {
      await ask();
      answered = asked;
    } catch (error) {
      failure = (error as Error).message;
    }
  }
  return running ? `it has answered nothing for ${Math.round(patienceMs / 1000)} s: ${failure}` : ended;
}

const ALREADY_EXISTS = 6;

/**
 * Makes the endpoint by which workflows of any namespace call Docket (B.1). It outlives restarts.
 * @returns whether it is there
 */
async function makeEndpoint(address: string, namespace: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: '5s' });
  const spec = { name: 'docket', target: { worker: { namespace, taskQueue: NEXUS_TASK_QUEUE } } };
  try {
    await connection.operatorService.createNexusEndpoint({ spec });
    return true;
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    return error.code === ALREADY_EXISTS;
  } finally {
    await connection.close();
  }
}

async function askTemporal(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  const asked = connection.withDeadline(Date.now() + 5_000, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  await asked.finally(() => connection.close());
}
