import type { Socket } from 'node:net';
import { serve } from '@hono/node-server';
import { hostAndPort, type ListenAddress, listenFailure } from '../runtime/failures.ts';
import type { ApiBindings } from './endpoint.ts';

type Fetch = (request: Request, env: ApiBindings) => Response | Promise<Response>;

/** A port that is bound. */
export interface Listening {
  readonly port: number;
  /** `host:port` where clients reach it. */
  readonly address: string;
  /** Calls are answered from now on; until then they are 503. */
  open(fetch: Fetch): void;
  /** In-flight calls finish; long polls end when their connection does. */
  close(): Promise<void>;
}

const DRAIN_MS = 8_000;
/** Longer than a proxy keeps an idle connection (60 s is usual), so that the proxy ends it and no call meets a closed one. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = KEEP_ALIVE_MS + 5_000;

/**
 * Binds a port for HTTP, before anything else starts, so that a port in use is reported at once.
 * @param where port 0: any free one
 * @throws Error with a message for the terminal when nothing can listen there
 */
export function listenHttp(where: ListenAddress): Promise<Listening> {
  let fetch: Fetch = () => new Response('starting', { status: 503, headers: { 'retry-after': '1' } });
  return new Promise((resolve, reject) => {
    const options = {
      fetch: (request: Request, env: object) => fetch(request, env as ApiBindings),
      port: where.port,
      hostname: where.host,
      serverOptions: { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS },
    };
    const open = (f: Fetch) => {
      fetch = f;
    };
    const server = serve(options, ({ port }) => {
      resolve({ port, address: hostAndPort(where.host, port), open, close });
    });
    server.on('error', (error) => reject(listenFailure(error, where)));
    // as browsers open them in advance: Node.js does not count them as idle
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const close = () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        const drop = () => 'closeAllConnections' in server && server.closeAllConnections();
        setTimeout(drop, DRAIN_MS).unref();
        if ('closeIdleConnections' in server) server.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      });
  });
}
