import { Registry } from 'prom-client';
import { type Listening, listenHttp } from '../api/listening.ts';
import type { ListenAddress } from '../runtime/failures.ts';
import { sdkMetrics } from '../worker/sdk.ts';
import { freePort } from './servers/ports.ts';

/** `/metrics` on a port of its own (`METRICS_PORT`): for workers, and to keep it apart from the API. */
interface MetricsPort extends Pick<Listening, 'address' | 'port' | 'close'> {
  /** The port on which the Temporal SDK has to serve its metrics, which are shown with Docket's. */
  readonly sdkPort: number;
  /** Begins to answer with this text. */
  open(text: () => Promise<string>): void;
}

/** @throws Error with a message for the terminal when nothing can listen there */
export async function bindMetrics(where: ListenAddress): Promise<MetricsPort> {
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
