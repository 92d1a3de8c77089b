import { connect, createServer } from 'node:net';
import { listening } from './listening.ts';

/**
 * A network that changes what a server answers.
 * @param rewrite makes of the bytes that came from it as many others
 * @returns its host and port
 */
export async function startProxy(
  to: { host: string; port: number },
  rewrite: (answer: string) => string,
): Promise<string> {
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
  return new URL(await listening(server)).host;
}
