import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { onTestFinished } from 'vitest';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { listening } from '../support/listening.ts';
import type { TestSystem } from '../support/system.ts';

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

/** How many calls had a path with this end. */
export const callsOf = ({ calls }: StandIn, end: string): number =>
  calls.filter(({ path }) => path.endsWith(end)).length;

/** Addresses of servers of which the first does not answer, and the second answers nothing but 503. */
export const away = async (): Promise<string[]> => [
  'http://127.0.0.1:1',
  await served((_, response) => refuse(response)),
];

/** Passes everything on. */
export const recorded = (url: string): Promise<StandIn> => failing(url, () => false);

/**
 * Passes everything on, and breaks off in the answer the first time each call comes that it is to forget. If that is
 * to be but `once`, it answers 503 from then on.
 */
export async function forgetful(
  url: string,
  forgets: (call: Call) => boolean | Promise<boolean>,
  once = false,
): Promise<StandIn> {
  const seen = new Set<string>();
  return standIn(async (call, request, response) => {
    if (once && seen.size > 0) return refuse(response);
    const { status, text } = await passedOn(url, call, request);
    const name = `${call.path} ${call.body}`;
    if (seen.has(name) || !(await forgets(call))) return response.writeHead(status).end(text);
    seen.add(name);
    // not before its first byte: then curl repeats the call by itself
    response.writeHead(200, { 'content-length': text.length });
    return response.write(text.slice(0, 1), () => request.socket.destroy());
  });
}

export interface Relay {
  url: string;
  /** What came, in order. */
  calls: { path: string; headers: IncomingHttpHeaders }[];
  /** How many event streams have been told where they are. */
  streams(): number;
  /** Ends all answers under way, as a server does that stops. */
  cut(): void;
  /** The same, and takes no more calls until it is up again. */
  down(): void;
  up(): void;
}

/** Passes everything on byte by byte, event streams too. */
export async function relay(url: string): Promise<Relay> {
  const calls: Relay['calls'] = [];
  const open = new Map<ServerResponse, ClientRequest>();
  const streams = new Set<ServerResponse>();
  const count = (response: ServerResponse, text: string) => void (text.includes('id: ') && streams.add(response));
  let isDown = false;
  const address = await served((request, response) => {
    if (isDown) return void request.socket.destroy();
    const { url: path = '', headers, method } = request;
    calls.push({ path, headers });
    const call = httpRequest(url + path, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (path.startsWith('/v1/stream?')) answer.on('data', (chunk) => count(response, String(chunk)));
      answer.on('error', () => {}).pipe(response);
    });
    open.set(response, call);
    response.on('close', () => {
      open.delete(response);
      call.destroy();
    });
    call.on('error', () => response.destroy());
    request.pipe(call);
  });
  const cut = () => {
    for (const [response, call] of open) {
      call.destroy();
      response.end();
    }
  };
  return {
    ...{ url: address, calls, cut, streams: () => streams.size },
    down() {
      isDown = true;
      cut();
    },
    up() {
      isDown = false;
    },
  };
}

/** Passes everything on, but answers 503 the first times that there are calls of that name. */
export function unwilling(url: string, times: number, name = '/complete'): Promise<StandIn> {
  let left = times;
  return failing(url, ({ path }) => path.endsWith(name) && left-- > 0);
}

/** Passes everything on, but answers such calls with this status. */
export function failing(url: string, fails: (call: Call) => boolean, status = 503): Promise<StandIn> {
  return standIn(async (call, request, response) => {
    if (fails(call)) return refuse(response, '0', status);
    const answer = await passedOn(url, call, request);
    return response.writeHead(answer.status).end(answer.text);
  });
}

/** Serves until the test ends. @returns its URL */
export const served = (listener: RequestListener): Promise<string> => listening(createServer(listener), onTestFinished);

async function standIn(
  answer: (call: Call, request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<StandIn> {
  const calls: Call[] = [];
  const address = await served(async (request, response) => {
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

/** Headers that mean something to a server. */
const PASSED_ON = ['authorization', 'idempotency-key'];

async function passedOn(url: string, { path, body }: Call, request: IncomingMessage) {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of PASSED_ON) if (request.headers[name]) headers.set(name, String(request.headers[name]));
  const { method = 'POST' } = request;
  const response = await fetch(url + path, { method, headers, body: method === 'GET' ? undefined : body });
  return { status: response.status, text: await response.text() };
}

const refuse = (response: ServerResponse, retryAfter = '1', status = 503) =>
  response.writeHead(status, { 'retry-after': retryAfter }).end('starting');

/** An API process of its own on the stores of a system: it can be killed. */
export async function startOwnApi(system: TestSystem, env: Record<string, string> = {}): Promise<DocketChild> {
  const child = await startChild('api', settingsFor(system, { DOCKET_POOL: '6', LOG_LEVEL: 'error', ...env }));
  onTestFinished(() => void child.process.kill('SIGKILL'));
  return child;
}
