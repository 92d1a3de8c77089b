import { Registry } from 'prom-client';
import { type Listening, listenHttp } from '../api/listening.ts';
import type { Config } from '../runtime/config.ts';
import type { ListenAddress } from '../runtime/failures.ts';
import { sdkMetrics } from '../worker/sdk.ts';
import { freePort } from './servers/ports.ts';

/** `/metrics` on a port of its own (`METRICS_PORT`), for workers, and for whoever keeps it apart from the API. */
interface MetricsPort extends Pick<Listening, 'address' | 'port' | 'close'> {
  /** Where the Temporal SDK is to serve its own, which are shown here with ours. */
  readonly sdkPort: number;
  /** Answers from now on with this text. */
  open(text: () => Promise<string>): void;
}

/** Where it listens, and the settings that say so; undefined: nowhere. */
export const metricsAddress = ({ metricsPort: port, metricsHost: host }: Config): ListenAddress | undefined =>
  port === undefined ? undefined : { host, port, settings: { host: 'METRICS_HOST', port: 'METRICS_PORT' } };

/**
 * Binds the port; null: there is to be none.
 * @throws Error with a message for the terminal when nothing can listen there
 */
export async function bindMetrics(config: Config): Promise<MetricsPort | null> {
  const where = metricsAddress(config);
  if (!where) return null;
  const { address, port, open, close } = await listenHttp(where);
  return {
    ...{ address, port, close },
    sdkPort: await freePort(),
    open: (text) => open((request) => answer(request, text)),
  };
}

async function answer({ url }: Request, text: () => Promise<string>): Promise<Response> {
  if (new URL(url).pathname !== '/metrics') return new Response('not found', { status: 404 });
  const [own, sdk] = await Promise.all([text(), sdkMetrics().catch(() => '')]);
  return new Response(own + sdk, { headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE } });
}
