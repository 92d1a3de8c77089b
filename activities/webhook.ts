import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { SignedCallback } from '../contract/items.ts';
import { mayCall, PRIVATE_ADDRESS, refuseUrl } from '../domain/callbacks.ts';
import type { PrivateHosts } from '../domain/private-hosts.ts';
import type { Outgoing } from '../services/deliveries/outcomes.ts';

const TIMEOUT_MS = 10_000;
/** Timers of Node.js take no more than 24 days. */
const MAX_TIMEOUT_MS = 86_400_000;
const SWITCHING_PROTOCOLS = 101;
/** In its three forms, of which two are obsolete and one has no zone; all of them are GMT. */
const HTTP_DATE = /^([A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d( +\d{4})?)( GMT)?$/;

export interface Answer {
  status: number;
  /** What the status means where it is not the receiver's own. */
  why?: string;
  /** What `Retry-After` asks for, in milliseconds. */
  retryAfterMs: number | null;
}

/**
 * POSTs one message with Standard Webhooks headers. Redirects are not followed, the answer's body is
 * not read. It connects to the address that it has checked, so that a name cannot resolve to another one in between.
 * @param permitted private places that the operator allows
 * @param wait the time-out, a day at most, and a signal that fires when the process stops
 * @throws Error when there is no answer in that time, or the address is refused
 */
export function post(
  message: Outgoing<SignedCallback>,
  permitted: PrivateHosts,
  wait: { timeoutMs?: number; gone?: AbortSignal } = {},
): Promise<Answer> {
  const refused = refuseUrl(message.url, permitted);
  if (refused !== null) return Promise.reject(new Error(`the URL ${refused}`));
  const waitMs = Math.min(wait.timeoutMs ?? TIMEOUT_MS, MAX_TIMEOUT_MS);
  const { request } = message.url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const call = request(
      message.url,
      {
        method: 'POST',
        headers: { ...signedHeaders(message, Math.floor(Date.now() / 1000)) },
        lookup: permitted.all ? undefined : checkedLookup(new URL(message.url), permitted),
        agent: false,
      },
      (response) => {
        resolve({ status: response.statusCode ?? 0, retryAfterMs: retryAfterOf(response.headers) });
        response.destroy();
      },
    );
    // rejects itself: a destroyed call may emit nothing more, as after an upgrade or during a lookup
    const end = (why: string) => () => {
      reject(new Error(why));
      call.destroy();
    };
    // not signals: one of `AbortSignal.timeout` stays for all of its time, which may be a day
    const late = setTimeout(end(`no answer within ${waitMs / 1000} s`), waitMs).unref();
    const stop = end('the process is being stopped');
    if (wait.gone?.aborted) stop();
    wait.gone?.addEventListener('abort', stop);
    call.on('upgrade', ({ headers }, socket) => {
      resolve({ status: SWITCHING_PROTOCOLS, retryAfterMs: retryAfterOf(headers) });
      socket.destroy();
    });
    call.on('close', () => {
      reject(new Error('the connection was closed without an answer'));
      clearTimeout(late);
      wait.gone?.removeEventListener('abort', stop);
    });
    call.on('error', reject);
    call.end(message.body);
  });
}

/**
 * `Retry-After` in milliseconds (RFC 9110, 10.2.3): whole seconds, or a date, counted from the receiver's own `Date`.
 * @returns null where it is missing or neither of these
 */
function retryAfterOf({ 'retry-after': after = '', date = '' }: http.IncomingHttpHeaders): number | null {
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  const at = timeOf(after);
  return at === null ? null : Math.max(0, at - (timeOf(date) ?? Date.now()));
}

function timeOf(text: string): number | null {
  const [, date] = HTTP_DATE.exec(text) ?? [];
  return Date.parse(`${date} GMT`) || null;
}

/** @param at seconds since 1970 */
function signedHeaders(message: Outgoing<SignedCallback>, at: number): Record<string, string> {
  const key = Buffer.from(message.secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${message.id}.${at}.${message.body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(message.body)),
    'user-agent': 'docket',
    'webhook-id': message.id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  };
}

/** Resolves a URL's host and gives its addresses only if each of them may be called. */
function checkedLookup(url: URL, permitted: PrivateHosts): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayCall(url, address, permitted)))
        return callback(new Error(`${hostname} ${PRIVATE_ADDRESS}`), '', 0);
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}
