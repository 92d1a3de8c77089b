import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, TransportError } from '@temporalio/worker';
import { destination, pino } from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import type { Api } from '../api/api.ts';
import { Attempts } from '../api/attempts.ts';
import { Authenticator } from '../api/auth.ts';
import { Console } from '../api/console.ts';
import { createMetrics } from '../api/metrics.ts';
import { openStreams } from '../api/streams/sse.ts';
import { Transfers } from '../api/transfers.ts';
import type { Config } from '../runtime/config.ts';
import { databaseFailure, needFolder } from '../runtime/failures.ts';
import type { Log } from '../runtime/log.ts';
import { createRuntime } from '../runtime/runtime.ts';
import { startTracing } from '../runtime/tracing.ts';
import { createContext, stopServices } from '../services/services.ts';
import type { Context } from '../services/shared/service.ts';
import { startWorker } from '../worker/worker.ts';
import { keepRunning } from './servers/supervisor.ts';
import { temporalFailure, temporalOptions } from './temporal.ts';

export interface Stores {
  databaseUrl: string;
  temporalAddress: string | undefined;
  temporalUiUrl: string | null;
}

export type Role = 'api' | 'worker' | 'all';

interface CoreOptions {
  role: Role;
  config: Config;
  stores: Stores;
  log: Log;
  /** The URL under which others reach it; null: none. */
  url: string | null;
}

/** A process without the ports on which it listens. */
export type Core = Awaited<ReturnType<typeof startCore>>;

/** Lines are written in groups: a write for each costs a call a tenth of its CPU. An exit writes the rest. */
const GROUP_BYTES = 8_192;
const GROUP_MS = 50;

/**
 * Writes to standard error. pino's `periodicFlush` would write an empty string at each interval without a line.
 * @param format of a line, else JSON
 */
export function createLog(config: Config, role: Role, format = (line: string) => line): Log {
  const file = destination({ dest: 2, sync: false, minLength: GROUP_BYTES });
  let due = false;
  const flush = () => {
    due = false;
    file.flush();
  };
  const flushSoon = () => {
    if (!due) setTimeout(flush, GROUP_MS).unref();
    due = true;
  };
  // lines that came during a write: a flush then does nothing
  file.on('write', (bytes: number) => bytes > 0 && flushSoon());
  const write = (line: string) => {
    file.write(format(line));
    flushSoon();
  };
  return pino({ level: config.logLevel, base: { role } }, { write });
}

/** gRPC's own limit is two minutes, for which callbacks would wait after Temporal is back. */
const RECONNECT = { 'grpc.max_reconnect_backoff_ms': 5_000 };

/** @throws Error with a message for the terminal where PostgreSQL cannot be reached */
export async function startCore({ role, config, stores, log, url }: CoreOptions) {
  // otherwise the first clearing would fail
  if (role !== 'api' && config.archive !== undefined) needFolder(config.archive, 'DOCKET_ARCHIVE');
  const temporal = temporalOptions(config, stores.temporalAddress);
  // no retries below ours: they would go on after the connection is closed
  const connection = Connection.lazy({ ...temporal.connection, interceptors: [], channelArgs: RECONNECT });
  if (role === 'api') forgetDeadlines(connection);
  const client = new Client({ connection, namespace: temporal.namespace });
  const node = `${hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  const endpoint = config.otlpEndpoint;
  const tracing = endpoint ? await startTracing({ endpoint, role, node }) : undefined;
  const { databaseUrl } = stores;
  const runtime = createRuntime({ ...config, tracing, databaseUrl, client, node, url, role, log });
  collectDefaultMetrics({ register: runtime.metrics.registry });
  const ctx = createContext(runtime, config);
  const close = async () => {
    await runtime.stop();
    await connection.close();
    await tracing?.stop().catch((error: Error) => log.warn({ err: error.message }, 'the last traces were not sent'));
  };
  await runtime.start().catch(async (error: unknown) => {
    await close().catch(() => {});
    throw databaseFailure(error, { url: stores.databaseUrl, setting: 'DATABASE_URL' });
  });
  return {
    /** Its name among all processes, a new one at each start. */
    node,
    ...{ runtime, ctx },
    /** Answers calls; null for a worker. */
    api: role === 'worker' ? null : apiOf(ctx, config, stores, temporal.namespace),
    /** Runs workflows and activities until it is stopped. */
    startWorker: () => workerOf(ctx, config, temporal),
    /** Answers long polls and streams at once, so that connections can be closed. */
    endCalls() {
      runtime.waiters.close();
      for (const stream of [...openStreams]) stream.close();
    },
    /** After the worker and all listeners. */
    async stop() {
      await stopServices(ctx);
      await close();
    },
  };
}

/**
 * The SDK keeps a call's deadline in an AsyncLocalStorage. On Node 20, once used, it makes every promise of the process
 * slower, so it is switched off between calls to Temporal: an API process makes few, mostly probes.
 */
function forgetDeadlines(connection: Connection): void {
  const withDeadline = connection.withDeadline.bind(connection);
  let running = 0;
  connection.withDeadline = async (deadline, ask) => {
    running++;
    try {
      return await withDeadline(deadline, ask);
    } finally {
      running--;
      if (running === 0) connection.callContextStorage.disable();
    }
  };
}

/** Restarts the worker when it fails because Temporal cannot be reached or does not know its namespace. */
async function workerOf(ctx: Context, config: Config, temporal: ReturnType<typeof temporalOptions>) {
  const start = async () => {
    const fail = (error: unknown) => {
      throw error instanceof TransportError ? temporalFailure(error, temporal) : error;
    };
    const connection = await NativeConnection.connect(temporal.connection).catch(fail);
    const closing = (error: unknown) =>
      connection
        .close()
        .catch(() => {})
        .then(() => fail(error));
    const options = { ...config, ctx, connection, namespace: temporal.namespace };
    const worker = await startWorker(options).catch(closing);
    return {
      ended: worker.done.then(
        () => 'stopped',
        (error: Error) => error.message,
      ),
      async stop() {
        await worker.stop();
        // a worker that failed may keep its reference to the connection
        await connection
          .close()
          .catch((error: Error) => ctx.log.warn({ err: error.message }, 'a connection stays open'));
      },
    };
  };
  return keepRunning('the worker', start, { say: (line) => ctx.log.error({}, line) });
}

function apiOf(ctx: Context, config: Config, stores: Stores, temporalNamespace: string): Api {
  const metrics = createMetrics(ctx);
  return {
    ctx,
    config: { ...config, temporalUiUrl: stores.temporalUiUrl, temporalNamespace },
    auth: new Authenticator(ctx, config),
    attempts: new Attempts(),
    metrics,
    transfers: new Transfers(config, (why) => metrics.cut.inc({ why })),
    console: new Console(config.imageHosts),
    reached: { temporal: false },
  };
}
