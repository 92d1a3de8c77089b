import { connect, createServer } from 'node:net';
import { atEndOfFile } from './endings.ts';

/**
 * A network that changes what a server answers.
 * @param rewrite makes of the bytes that came from it as many others
 * @returns the port to connect to
 */
export function startProxy(to: { host: string; port: number }, rewrite: (answer: string) => string): Promise<number> {
  const server = createServer((caller) => {
    const called = connect(to);
    caller.pipe(called);
    // latin1 has a character for each byte
    called.on('data', (bytes) => caller.write(Buffer.from(rewrite(bytes.toString('latin1')), 'latin1')));
    for (const [one, other] of [
      [caller, called],
      [called, caller],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  atEndOfFile(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}
