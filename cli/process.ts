import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { destination, pino } from 'pino';
import type { Api } from '../api/api.ts';
import { createApp } from '../api/app.ts';
import { Attempts } from '../api/attempts.ts';
import { Authenticator } from '../api/auth.ts';
import { type Beanstalkd, listenBeanstalkd } from '../api/beanstalkd/server.ts';
import { Console } from '../api/console.ts';
import type { ApiBindings } from '../api/endpoint.ts';
import { createMetrics } from '../api/metrics.ts';
import { openStreams } from '../api/streams/sse.ts';
import { reachStores } from '../api/system/health.ts';
import type { Config } from '../runtime/config.ts';
import type { Log } from '../runtime/log.ts';
import { createRuntime, type Runtime } from '../runtime/runtime.ts';
import { createServices, type Services } from '../services/services.ts';
import { installRuntime, startWorker } from '../worker/worker.ts';
import { findSite } from './servers/site.ts';
import { keepRunning } from './servers/supervisor.ts';

export interface Stores {
  databaseUrl: string;
  temporalAddress: string | undefined;
  temporalUiUrl: string | null;
}

export interface RunningProcess {
  /** Where the API listens; null for a worker. */
  url: string | null;
  /** Where beanstalkd's protocol is spoken; null where it isn't. */
  beanstalkd: Pick<Beanstalkd, 'address' | 'port' | 'drain'> | null;
  runtime: Runtime;
  services: Services;
  stop(): Promise<void>;
}

type Role = 'api' | 'worker' | 'all';

/** Lines are written together: a write for each costs a call a tenth of its CPU. What is left at an exit is written then. */
const LOG = { minLength: 8_192, periodicFlush: 50 };
const DRAIN_MS = 8_000;
/** Longer than a proxy keeps an idle connection (60 s is usual), so that the proxy ends it and no call meets a closed one. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = KEEP_ALIVE_MS + 5_000;
/** gRPC's own limit is two minutes, for which callbacks would wait after Temporal is back. */
const RECONNECT = { 'grpc.max_reconnect_backoff_ms': 5_000 };

/** Runs the API, the worker, or both, on stores that are there already. */
export async function startProcess(role: Role, config: Config, stores: Stores): Promise<RunningProcess> {
  const log = pino({ level: config.logLevel, base: { role } }, destination({ dest: 2, sync: false, ...LOG }));
  if (role !== 'api') installRuntime(log);
  const temporal = temporalOptions(config, stores);
  // no retries below ours: they would go on after the connection is closed
  const connection = Connection.lazy({ ...temporal.connection, interceptors: [], channelArgs: RECONNECT });
  if (role === 'api') forgetDeadlines(connection);
  const client = new Client({ connection, namespace: temporal.namespace });
  const node = `${hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  const closing = new AbortController();
  const listening = role === 'worker' ? null : await reservePort(config);
  const url = listening && `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${listening.port}`;
  const beanstalkd = role === 'worker' ? null : await reserveBeanstalkd(config);
  const reachable = listening && (config.publicUrl ?? url);
  const runtime = createRuntime({
    ...config,
    databaseUrl: stores.databaseUrl,
    client,
    node,
    url: reachable,
    role,
    log,
  });
  const services = createServices(runtime, config);
  await runtime.start();
  services.start();
  const api = listening && openApi(runtime, services, config, stores, temporal.namespace);
  if (listening && api) {
    listening.open((await createApp(api)).fetch);
    reachStores(api);
    void openConsole(api.console, config, runtime.log, closing.signal);
    await beanstalkd?.open(api);
  }
  const worker = role === 'api' ? null : await workerOf(runtime, services, config, temporal);
  log.info({ node, url, beanstalkd: beanstalkd?.address ?? null }, 'started');
  return {
    url,
    beanstalkd,
    runtime,
    services,
    async stop() {
      log.info({ node }, 'stopping');
      closing.abort();
      await beanstalkd?.stop();
      runtime.waiters.close();
      for (const stream of [...openStreams]) stream.close();
      await listening?.close();
      await worker?.stop();
      await services.stop();
      await runtime.stop();
      await connection.close();
      log.info({ node }, 'stopped');
    },
  };
}

/**
 * The SDK keeps a call's deadline in an AsyncLocalStorage. On Node 20 one that was used once makes every promise of the
 * process dearer, so it is switched off while Temporal isn't asked: an API process does so seldom, by probes mostly.
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

/** `TEMPORAL_*` as every Temporal program reads it, with the address of the server of our own. */
function temporalOptions(config: Config, stores: Stores) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return {
    connection: { ...connectionOptions, ...(stores.temporalAddress && { address: stores.temporalAddress }) },
    namespace: namespace ?? config.temporalNamespace,
  };
}

/** A worker that dies, because Temporal was away or did not know its namespace, is started again. */
async function workerOf(
  runtime: Runtime,
  services: Services,
  config: Config,
  temporal: ReturnType<typeof temporalOptions>,
) {
  const start = async () => {
    const connection = await NativeConnection.connect(temporal.connection);
    const closing = (error: Error) => connection.close().then(() => Promise.reject(error));
    const options = { ...config, runtime, services, connection, namespace: temporal.namespace };
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
          .catch((error: Error) => runtime.log.warn({ err: error.message }, 'a connection stays open'));
      },
    };
  };
  return keepRunning('the worker', start, { say: (line) => runtime.log.error({}, line) });
}

function openApi(runtime: Runtime, services: Services, config: Config, stores: Stores, temporalNamespace: string): Api {
  return {
    ...{ runtime, services },
    config: { ...config, temporalUiUrl: stores.temporalUiUrl, temporalNamespace },
    auth: new Authenticator(services.keys, services.sessions, config),
    attempts: new Attempts(),
    metrics: createMetrics(runtime, services),
    console: new Console(config.imageHosts),
    reached: { postgres: false, temporal: false },
  };
}

/** Shows the console as soon as its files are there. Without them the API works all the same. */
async function openConsole(console: Console, { cacheDir }: Config, log: Log, closing: AbortSignal): Promise<void> {
  try {
    console.load(await findSite(cacheDir, closing));
  } catch (error) {
    if (closing.aborted) return;
    console.fail();
    log.error({ err: (error as Error).message }, 'the console is not there');
  }
}

const reserveBeanstalkd = async ({ beanstalkdPort: port, beanstalkdHost: host }: Config) =>
  port === undefined ? null : listenBeanstalkd({ host, port });

/** Binds the port before anything else is done with it, so that a taken one is said at once. */
function reservePort(config: Config) {
  type Fetch = (request: Request, env: ApiBindings) => Response | Promise<Response>;
  let fetch: Fetch = () => new Response('starting', { status: 503, headers: { 'retry-after': '1' } });
  return new Promise<{ port: number; open(f: Fetch): void; close(): Promise<void> }>((resolve, reject) => {
    const options = {
      fetch: (request: Request, env: object) => fetch(request, env as ApiBindings),
      port: config.port,
      hostname: config.host,
      serverOptions: { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS },
    };
    const open = (f: Fetch) => {
      fetch = f;
    };
    const server = serve(options, ({ port }) => resolve({ port, open, close }));
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${config.port} is taken; set PORT to another, or to 0 for any`)
          : error,
      ),
    );
    /** In-flight calls finish; long polls end when their connection does. */
    const close = () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        const drop = () => 'closeAllConnections' in server && server.closeAllConnections();
        setTimeout(drop, DRAIN_MS).unref();
        if ('closeIdleConnections' in server) server.closeIdleConnections();
      });
  });
}
