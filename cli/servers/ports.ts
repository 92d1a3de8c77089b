import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../../runtime/config.ts';
import { type ListenAddress, listenFailure, throwing } from '../../runtime/failures.ts';

const HOST = '127.0.0.1';

/** Binds a port, 0 any free one, and releases it. @returns its number */
async function tryPort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: bound } = server.address() as { port: number };
  await once(server.close(), 'close');
  return bound;
}

/** A TCP port on 127.0.0.1 that is free at the moment. */
export const freePort = (): Promise<number> => tryPort(HOST, 0);

/** Whether a port can be bound on 127.0.0.1. */
export const isFree = (port: number): Promise<boolean> =>
  tryPort(HOST, port).then(
    () => true,
    () => false,
  );

/** @throws Error that names the setting, where nothing can listen there */
export async function needFree(listening: ListenAddress): Promise<void> {
  await tryPort(listening.host, listening.port).catch(throwing((error) => listenFailure(error, listening)));
}

const [FIRST, LAST] = [20_000, 32_000];

/**
 * A free port that stays free while its server is down: below the range from which systems take the local ends
 * of connections, so that no connection sits on it when the server comes back.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

/** The addresses of an API process, with the settings that choose them; undefined where a protocol is switched off. */
export function listenAddresses(config: Config) {
  const at = (name: string, host: string, port: number | undefined): ListenAddress | undefined =>
    port === undefined ? undefined : { host, port, settings: { host: `${name}_HOST`, port: `${name}_PORT` } };
  return {
    http: { host: config.host, port: config.port, settings: { host: 'HOST', port: 'PORT' } },
    beanstalkd: at('BEANSTALKD', config.beanstalkdHost, config.beanstalkdPort),
    delayQueue: at('DELAY_QUEUE', config.delayQueueHost, config.delayQueuePort),
    metrics: at('METRICS', config.metricsHost, config.metricsPort),
  };
}
