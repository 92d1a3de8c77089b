import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { atEndOfFile } from './endings.ts';

/**
 * Has a server listen on a free port.
 * @param atEnd closes it: at the end of the file, if nothing else is said
 * @returns its URL, without a path
 */
export async function listening(
  server: Server | HttpServer,
  atEnd: (close: () => void) => void = atEndOfFile,
): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
