import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { Json } from './client.ts';
import { listening } from './listening.ts';

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  /** `performance.now()` at its arrival. */
  at: number;
}

export interface Receiver {
  url: string;
  /** What a queue or a ticket is given. */
  callback: { url: string; secret: string };
  received: Received[];
}

/** Takes callbacks until the test ends. @param answer its status, by the number of the call, from 1, and the call */
export async function startReceiver(
  answer: (n: number, call: Received) => number | Promise<number> = () => 204,
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const call = { headers: request.headers, body: Buffer.concat(chunks).toString(), at };
      response.writeHead(await answer(received.push(call), call)).end();
    });
  });
  const url = `${await listening(server, onTestFinished)}/verdicts`;
  return { url, callback: { url, secret: SECRET }, received };
}

/** What came, after its signature was checked by the reference implementation. */
export const opened = ({ headers, body }: Received): Json =>
  new Webhook(SECRET).verify(body, Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)])));
