import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A call as a stand-in for a server sees it. */
export interface Call {
  path: string;
  body: string;
}

export interface StandIn {
  url: string;
  /** What came, in order. */
  calls: Call[];
}

/** A server that never has anything to say but 503. */
export const unavailable = (): Promise<string> => listening((_, response) => refuse(response));

/**
 * Passes everything on, and breaks off in the answer the first time each call comes that it is to forget. If that is
 * to be but `once`, it answers 503 from then on.
 */
export async function forgetful(url: string, forgets: (call: Call) => boolean, once = false): Promise<StandIn> {
  const seen = new Set<string>();
  return standIn(async (call, request, response) => {
    if (once && seen.size > 0) return refuse(response);
    const text = await passedOn(url, call, request);
    if (seen.has(call.body) || !forgets(call)) return response.end(text);
    seen.add(call.body);
    // not before its first byte: then curl repeats the call by itself
    response.writeHead(200, { 'content-length': text.length });
    return response.write(text.slice(0, 1), () => request.socket.destroy());
  });
}

/** Passes everything on, but answers 503 the first times that there are completions. */
export function unwilling(url: string, times: number): Promise<StandIn> {
  let left = times;
  return standIn(async (call, request, response) => {
    if (call.path.endsWith('/complete') && left-- > 0) return refuse(response, '0');
    return response.end(await passedOn(url, call, request));
  });
}

async function standIn(
  answer: (call: Call, request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<StandIn> {
  const calls: Call[] = [];
  const address = await listening(async (request, response) => {
    const call = { path: request.url ?? '', body: '' };
    try {
      for await (const chunk of request) call.body += chunk;
    } catch {
      return; // a program that is ended leaves its call in the middle
    }
    calls.push(call);
    await answer(call, request, response);
  });
  return { url: address, calls };
}

async function passedOn(url: string, { path, body }: Call, { method = 'POST' }: IncomingMessage): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url + path, { method, headers, body })).text();
}

const refuse = (response: ServerResponse, retryAfter = '1') =>
  response.writeHead(503, { 'retry-after': retryAfter }).end('starting');

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
