import { Registry } from 'prom-client';
import type { Api } from '../api/api.ts';
import { createApp } from '../api/app.ts';
import { listenBeanstalkd } from '../api/beanstalkd/server.ts';
import type { Console } from '../api/console.ts';
import { createDelayQueue } from '../api/delay-queue/app.ts';
import { listenHttp } from '../api/listening.ts';
import { reachTemporal } from '../api/system/health.ts';
import { type Config, isLoopback } from '../runtime/config.ts';
import type { ListenAddress } from '../runtime/failures.ts';
import type { Log } from '../runtime/log.ts';
import { installRuntime, sdkMetrics } from '../worker/sdk.ts';
import { createLog, type Role, type Stores, startCore } from './core.ts';
import { freePort, listenAddresses } from './servers/ports.ts';
import { findSite } from './servers/site.ts';

export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

/**
 * Runs the API, the worker, or both, on stores that run already.
 * @param format of the log's lines, else JSON
 */
export async function startProcess(role: Role, config: Config, stores: Stores, format?: (line: string) => string) {
  const log = createLog(config, role, format);
  const addresses = listenAddresses(config);
  const metrics = addresses.metrics ? await bindMetrics(addresses.metrics) : null;
  if (role !== 'api') installRuntime(log, metrics?.sdkPort);
  const closing = new AbortController();
  const ports = role === 'worker' ? null : await reservePorts(addresses);
  const url = ports && `http://${ports.http.address}`;
  const core = await startCore({ role, config, stores, log, url: ports && (config.publicUrl ?? url) });
  const { node, api, runtime, ctx } = core;
  if (ports && api) {
    await openPorts(ports, api, config);
    reachTemporal(api, closing.signal);
    void openConsole(api.console, config, log, closing.signal);
  }
  metrics?.open(api?.metrics.text ?? (() => runtime.metrics.registry.metrics()));
  const worker = role === 'api' ? null : await core.startWorker();
  const { beanstalkd = null, delayQueue = null } = ports ?? {};
  const also = { beanstalkd: beanstalkd?.address, delayQueue: delayQueue?.address, metrics: metrics?.address };
  log.info({ node, url, ...also }, 'started');
  return {
    /** Of the API; null for a worker. */
    url,
    // null where they are switched off
    ...{ beanstalkd, delayQueue, metrics },
    runtime,
    ctx,
    async stop() {
      log.info({ node }, 'stopping');
      closing.abort();
      await beanstalkd?.stop();
      core.endCalls();
      await Promise.all([ports?.http.close(), delayQueue?.close()]);
      await worker?.stop();
      await metrics?.close();
      await core.stop();
      log.info({ node }, 'stopped');
    },
  };
}

/** Serves the console once its files are built. The API does not wait for them. */
async function openConsole(console: Console, { cacheDir }: Config, log: Log, closing: AbortSignal): Promise<void> {
  try {
    console.load(await findSite(cacheDir, closing));
  } catch (error) {
    if (closing.aborted) return;
    console.fail();
    log.error({ err: (error as Error).message }, 'the console is not there');
  }
}

/** Binds all ports before anything else is started, so that a taken one is reported at once. */
async function reservePorts({ http, beanstalkd, delayQueue }: ReturnType<typeof listenAddresses>) {
  return {
    http: await listenHttp(http),
    beanstalkd: beanstalkd ? await listenBeanstalkd(beanstalkd) : null,
    delayQueue: delayQueue ? await listenHttp(delayQueue) : null,
  };
}

type Ports = Awaited<ReturnType<typeof reservePorts>>;

async function openPorts(ports: Ports, api: Api, { delayQueueHost }: Config): Promise<void> {
  ports.http.open((await createApp(api)).fetch);
  await ports.beanstalkd?.open(api);
  ports.delayQueue?.open((await createDelayQueue(api, isLoopback(delayQueueHost))).fetch);
}

/**
 * Binds a port for `/metrics` alone (`METRICS_PORT`): for workers, and to keep it apart from the API.
 * @returns the listener, which answers once `open` is called with a text; it adds the metrics that the Temporal SDK has
 *   to serve on `sdkPort`
 * @throws Error with a message for the terminal when nothing can listen there
 */
async function bindMetrics(where: ListenAddress) {
  const { address, port, open, close } = await listenHttp(where);
  return {
    ...{ address, port, close },
    sdkPort: await freePort(),
    open: (text: () => Promise<string>) => open((request) => metricsOf(request, text)),
  };
}

async function metricsOf({ url }: Request, text: () => Promise<string>): Promise<Response> {
  if (new URL(url).pathname !== '/metrics') return new Response('not found', { status: 404 });
  const [own, sdk] = await Promise.all([text(), sdkMetrics().catch(() => '')]);
  return new Response(own + sdk, { headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE } });
}
