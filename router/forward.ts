import { Problem } from '../services/shared/problems.ts';
import type { Docket } from './places.ts';

/** A call as it came, with its body read. */
export interface Call {
  method: string;
  /** With its query. */
  path: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer> | undefined;
  /** Aborted when the caller has gone: the Docket takes back then what it could not hand out. */
  signal: AbortSignal;
}

/** About this connection, not about the call. */
const HOP = ['connection', 'content-length', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** @param change another body, as a value, or another path. @throws Problem `unavailable` where the Docket cannot be reached */
export async function forward(
  docket: Docket,
  call: Call,
  change: { method?: string; path?: string; body?: unknown } = {},
): Promise<Response> {
  const headers = new Headers(call.headers);
  for (const name of HOP) headers.delete(name);
  headers.set('accept-encoding', 'identity');
  const method = change.method ?? call.method;
  const body = change.body === undefined ? call.body : JSON.stringify(change.body);
  try {
    const answer = await fetch(docket.url + (change.path ?? call.path), {
      ...{ method, headers, redirect: 'manual', signal: call.signal },
      ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body }),
    });
    const kept = new Headers(answer.headers);
    for (const name of HOP) kept.delete(name);
    return new Response(answer.body, { status: answer.status, headers: kept });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Problem(
      'unavailable',
      `Docket ${docket.name} cannot be reached: ${(cause as Error | undefined)?.message ?? message}`,
    );
  }
}

/** The call's body, if it is a JSON object; undefined: the Docket will say what is wrong with it. */
export function bodyOf({ body }: Call): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An answer, read: as it is to be sent on, and its value if it was a success. */
export interface Read {
  answer: Response;
  /** Undefined for another status than 2xx. */
  value: Record<string, unknown> | undefined;
}

export async function read(answer: Response): Promise<Read> {
  const text = await answer.text();
  return { answer: new Response(text, answer), value: answer.ok ? JSON.parse(text) : undefined };
}

/** An answer like that one, with another value. */
export function withValue({ answer }: Read, value: unknown): Response {
  return new Response(JSON.stringify(value), answer);
}

/** At one Docket, while something may come to another one. */
const TURN_SECONDS = 0.5;

/** A Docket that is asked for work. */
export interface Source {
  /** @param waitSeconds how long the Docket may wait for something to come */
  ask(waitSeconds: number): Promise<Response>;
  /** Whether anything new comes to it. */
  grows: boolean;
}

/**
 * Asks one after the other until one gives something, then again for as long as the caller waits, waiting at those that grow.
 * @param isEmpty whether a successful answer gives nothing
 */
export async function inTurn(
  sources: Source[],
  waitSeconds: number,
  isEmpty: (value: Record<string, unknown>) => boolean,
): Promise<Response> {
  const until = performance.now() + waitSeconds * 1_000;
  for (let turn = 0; ; ) {
    let last: Response | undefined;
    for (const { ask, grows } of sources) {
      const { answer, value } = await read(await ask(grows ? turn : 0));
      if (!value || !isEmpty(value)) return answer;
      last = answer;
    }
    const left = (until - performance.now()) / 1_000;
    if (last && left <= 0) return last;
    turn = Math.min(TURN_SECONDS, left);
  }
}
