import { connect, createServer } from 'node:net';
import { deferred } from '../../support/client.ts';
import { listening } from '../../support/listening.ts';

/** The request that ends a transaction, as the protocol numbers it. */
const END_TRANSACTION = 26;

/** A way to a broker on which the end of a transaction can be held. */
export interface Holding {
  port: number;
  /**
   * From now on the end of the next transaction does not get to the broker, or its answer does not get back.
   * @returns when that has happened; everything after it is passed on again, on new connections
   */
  hold(what: 'request' | 'answer'): Promise<void>;
}

export async function startHolding(broker: number): Promise<Holding> {
  let held: { what: 'request' | 'answer'; happened: () => void } | null = null;
  const server = createServer((client) => {
    const upstream = connect(broker, '127.0.0.1');
    let rest = Buffer.alloc(0);
    let silent = false;
    client.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      // a request: its length, then its number
      while (rest.length > 6 && rest.length >= 4 + rest.readInt32BE(0)) {
        const request = rest.subarray(0, 4 + rest.readInt32BE(0));
        rest = rest.subarray(request.length);
        const now = request.readInt16BE(4) === END_TRANSACTION ? held : null;
        if (now) silent = true;
        if (now?.what === 'request') now.happened();
        else upstream.write(request);
      }
    });
    upstream.on('data', (chunk) => {
      if (silent) held?.happened();
      else client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  const { port } = new URL(await listening(server));
  return {
    port: Number(port),
    async hold(what) {
      const { promise, resolve } = deferred<void>();
      held = { what, happened: () => resolve() };
      await promise;
      held = null;
    },
  };
}
