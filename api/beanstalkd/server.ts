import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { hostAndPort, type ListenAddress, listenFailure, throwing } from '../../runtime/failures.ts';
import type { Api } from '../api.ts';
import { type Connection, serveConnection } from './connection.ts';
import { Listener } from './listener.ts';

/**
 * Binds the port of beanstalkd's protocol (S3.8). The protocol has no authentication: every client that
 * reaches the port may do everything with jobs.
 * @param where port 0: any free one
 * @throws Error with a message for the terminal when nothing can listen there
 */
export async function listenBeanstalkd(where: ListenAddress) {
  const connections = new Set<Connection>();
  const early = new Set<Socket>();
  let listener: Listener | undefined;
  const serve = (on: Listener, socket: Socket) => {
    const connection = serveConnection(on, socket);
    connections.add(connection);
    const forget = () => void connections.delete(connection);
    connection.closed.then(forget, (error: Error) => {
      on.api.ctx.log.warn({ err: error.message }, 'a connection over TCP failed');
      forget();
    });
    socket.resume();
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    if (listener) serve(listener, socket);
    else early.add(socket);
  });
  server.listen({ host: where.host, port: where.port });
  await once(server, 'listening').catch(throwing((error) => listenFailure(error, where)));
  // a connection that cannot be accepted does not end the process
  server.on('error', () => {});
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** `host:port` where clients reach it. */
    address: hostAndPort(where.host, port),
    /** Serves clients from now on, also those that connected earlier. */
    async open(api: Api) {
      const opened = await Listener.open(api);
      listener = opened;
      for (const socket of early) serve(opened, socket);
      early.clear();
    },
    /** Accepts no more jobs, as beanstalkd does after SIGUSR1, until a restart. */
    drain() {
      if (listener) listener.draining = true;
    },
    /** Disconnects all clients; resolves when the jobs that they had reserved are ready again. */
    async stop() {
      const closed = once(server.close(), 'close');
      listener?.stop();
      for (const socket of early) socket.destroy();
      for (const connection of connections) connection.hangUp();
      await Promise.allSettled([...connections].map((c) => c.closed));
      await closed;
    },
  };
}
