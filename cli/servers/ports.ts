import { createServer } from 'node:net';
import { type ListenAddress, listenFailure } from '../../runtime/failures.ts';

/** A TCP port on 127.0.0.1 that is free at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Binds a port, and lets go of it. */
function tryPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Whether a port can be bound on 127.0.0.1. */
export const isFree = (port: number): Promise<boolean> =>
  tryPort('127.0.0.1', port).then(
    () => true,
    () => false,
  );

/** @throws Error that names the setting, where nothing can listen there */
export const needFree = (listening: ListenAddress): Promise<void> =>
  tryPort(listening.host, listening.port).catch((error) => {
    throw listenFailure(error, listening);
  });

const [FIRST, LAST] = [20_000, 32_000];

/**
 * A free port that stays free while its server is down: below those from which systems take the local ends
 * of connections, so that no connection sits on it when the server comes back.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}
