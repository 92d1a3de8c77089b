import { Registry } from 'prom-client';
import { listenHttp } from '../api/listening.ts';
import type { ListenAddress } from '../runtime/failures.ts';
import { sdkMetrics } from '../worker/sdk.ts';
import { freePort } from './servers/ports.ts';

/**
 * Binds a port for `/metrics` alone (`METRICS_PORT`): for workers, and to keep it apart from the API.
 * @returns the listener, which answers once `open` is called with a text; it adds the metrics that the Temporal SDK has
 *   to serve on `sdkPort`
 * @throws Error with a message for the terminal when nothing can listen there
 */
export async function bindMetrics(where: ListenAddress) {
  const { address, port, open, close } = await listenHttp(where);
  return {
    ...{ address, port, close },
    sdkPort: await freePort(),
    open: (text: () => Promise<string>) => open((request) => answer(request, text)),
  };
}

async function answer({ url }: Request, text: () => Promise<string>): Promise<Response> {
  if (new URL(url).pathname !== '/metrics') return new Response('not found', { status: 404 });
  const [own, sdk] = await Promise.all([text(), sdkMetrics().catch(() => '')]);
  return new Response(own + sdk, { headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE } });
}
