import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, TransportError } from '@temporalio/worker';
import { destination, pino } from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import type { Api } from '../api/api.ts';
import { createApp } from '../api/app.ts';
import { Attempts } from '../api/attempts.ts';
import { Authenticator } from '../api/auth.ts';
import { type Beanstalkd, listenBeanstalkd } from '../api/beanstalkd/server.ts';
import { Console } from '../api/console.ts';
import { delayQueueDialect } from '../api/delay-queue/dialect.ts';
import { createDialect } from '../api/dialects.ts';
import { type Listening, listenHttp } from '../api/listening.ts';
import { lmstfyDialect } from '../api/lmstfy/dialect.ts';
import { createMetrics } from '../api/metrics.ts';
import { openStreams } from '../api/streams/sse.ts';
import { reachStores } from '../api/system/health.ts';
import { type Config, isLoopback } from '../runtime/config.ts';
import { databaseFailure, type ListenAddress } from '../runtime/failures.ts';
import type { Log } from '../runtime/log.ts';
import { createRuntime, type Runtime } from '../runtime/runtime.ts';
import { startTracing } from '../runtime/tracing.ts';
import { createServices, type Services } from '../services/services.ts';
import { installRuntime } from '../worker/sdk.ts';
import { startWorker } from '../worker/worker.ts';
import { bindMetrics, metricsAddress } from './metrics.ts';
import { findSite } from './servers/site.ts';
import { keepRunning } from './servers/supervisor.ts';
import { temporalFailure, temporalOptions } from './temporal.ts';

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
  /** Where lmstfy's API is spoken; null where it isn't. */
  lmstfy: Pick<Listening, 'address' | 'port'> | null;
  /** Where the API of the Go delay-queue is spoken; null where it isn't. */
  delayQueue: Pick<Listening, 'address' | 'port'> | null;
  /** Where /metrics has a port of its own; null where it has none. */
  metrics: Pick<Listening, 'address' | 'port'> | null;
  runtime: Runtime;
  services: Services;
  stop(): Promise<void>;
}

type Role = 'api' | 'worker' | 'all';

/** Lines are written together: a write for each costs a call a tenth of its CPU. What is left at an exit is written then. */
const LOG = { minLength: 8_192, periodicFlush: 50 };
/** gRPC's own limit is two minutes, for which callbacks would wait after Temporal is back. */
const RECONNECT = { 'grpc.max_reconnect_backoff_ms': 5_000 };

/** Runs the API, the worker, or both, on stores that are there already. */
export async function startProcess(role: Role, config: Config, stores: Stores): Promise<RunningProcess> {
  const log = pino({ level: config.logLevel, base: { role } }, destination({ dest: 2, sync: false, ...LOG }));
  const metrics = await bindMetrics(config);
  if (role !== 'api') installRuntime(log, metrics?.sdkPort);
  const temporal = temporalOptions(config, stores.temporalAddress);
  // no retries below ours: they would go on after the connection is closed
  const connection = Connection.lazy({ ...temporal.connection, interceptors: [], channelArgs: RECONNECT });
  if (role === 'api') forgetDeadlines(connection);
  const client = new Client({ connection, namespace: temporal.namespace });
  const node = `${hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  const closing = new AbortController();
  const ports = role === 'worker' ? null : await reservePorts(config);
  const url = ports && `http://${ports.http.address}`;
  const reachable = ports && (config.publicUrl ?? url);
  const endpoint = config.otlpEndpoint;
  const tracing = endpoint ? await startTracing({ endpoint, role, node }) : undefined;
  const runtime = createRuntime({
    ...config,
    tracing,
    databaseUrl: stores.databaseUrl,
    client,
    node,
    url: reachable,
    role,
    log,
  });
  collectDefaultMetrics({ register: runtime.metrics.registry });
  const services = createServices(runtime, config);
  await runtime.start().catch((error: unknown) => {
    throw databaseFailure(error, { url: stores.databaseUrl, setting: 'DATABASE_URL' });
  });
  services.start();
  const api = ports && openApi(runtime, services, config, stores, temporal.namespace);
  if (ports && api) {
    await openPorts(ports, api, config);
    reachStores(api);
    void openConsole(api.console, config, runtime.log, closing.signal);
  }
  metrics?.open(api?.metrics.text ?? (() => runtime.metrics.registry.metrics()));
  const worker = role === 'api' ? null : await workerOf(runtime, services, config, temporal);
  const { beanstalkd = null, lmstfy = null, delayQueue = null } = ports ?? {};
  const spoken = {
    ...{ beanstalkd: beanstalkd?.address, lmstfy: lmstfy?.address, delayQueue: delayQueue?.address },
    metrics: metrics?.address,
  };
  log.info({ node, url, ...spoken }, 'started');
  return {
    url,
    ...{ beanstalkd, lmstfy, delayQueue, metrics },
    runtime,
    services,
    async stop() {
      log.info({ node }, 'stopping');
      closing.abort();
      await beanstalkd?.stop();
      runtime.waiters.close();
      for (const stream of [...openStreams]) stream.close();
      await Promise.all([ports?.http.close(), lmstfy?.close(), delayQueue?.close()]);
      await worker?.stop();
      await metrics?.close();
      await services.stop();
      await runtime.stop();
      await connection.close();
      await tracing?.stop().catch((error: Error) => log.warn({ err: error.message }, 'the last traces were not sent'));
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

/** A worker that dies, because Temporal was away or did not know its namespace, is started again. */
async function workerOf(
  runtime: Runtime,
  services: Services,
  config: Config,
  temporal: ReturnType<typeof temporalOptions>,
) {
  const start = async () => {
    const fail = (error: unknown) => {
      throw error instanceof TransportError ? temporalFailure(error, temporal) : error;
    };
    const connection = await NativeConnection.connect(temporal.connection).catch(fail);
    const closing = (error: unknown) => connection.close().then(() => fail(error));
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

interface Ports {
  http: Listening;
  beanstalkd: Beanstalkd | null;
  lmstfy: Listening | null;
  delayQueue: Listening | null;
}

/** Where a process that serves callers listens, and the settings that say so; undefined where a protocol isn't spoken. */
export function listenAddresses(config: Config) {
  const at = (name: string, host: string, port: number | undefined): ListenAddress | undefined =>
    port === undefined ? undefined : { host, port, settings: { host: `${name}_HOST`, port: `${name}_PORT` } };
  return {
    http: { host: config.host, port: config.port, settings: { host: 'HOST', port: 'PORT' } },
    beanstalkd: at('BEANSTALKD', config.beanstalkdHost, config.beanstalkdPort),
    lmstfy: at('LMSTFY', config.lmstfyHost, config.lmstfyPort),
    delayQueue: at('DELAY_QUEUE', config.delayQueueHost, config.delayQueuePort),
    metrics: metricsAddress(config),
  };
}

/** Binds all ports before anything else is done with them, so that a taken one is said at once. */
async function reservePorts(config: Config): Promise<Ports> {
  const { http, beanstalkd, lmstfy, delayQueue } = listenAddresses(config);
  return {
    http: await listenHttp(http),
    beanstalkd: beanstalkd ? await listenBeanstalkd(beanstalkd) : null,
    lmstfy: lmstfy ? await listenHttp(lmstfy) : null,
    delayQueue: delayQueue ? await listenHttp(delayQueue) : null,
  };
}

async function openPorts(ports: Ports, api: Api, { delayQueueHost }: Config): Promise<void> {
  ports.http.open((await createApp(api)).fetch);
  await ports.beanstalkd?.open(api);
  ports.lmstfy?.open((await createDialect(api, lmstfyDialect(api))).fetch);
  ports.delayQueue?.open((await createDialect(api, delayQueueDialect(isLoopback(delayQueueHost)))).fetch);
}
