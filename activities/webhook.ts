import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { mayCall, PRIVATE_ADDRESS, refuseUrl } from '../domain/callbacks.ts';
import type { PrivateHosts } from '../domain/private-hosts.ts';

const TIMEOUT_MS = 10_000;
/** Timers of Node.js take no more than 24 days. */
const MAX_PATIENCE_MS = 86_400_000;

export interface Message {
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  /** Stable over all attempts; contains no dot. */
  id: string;
  body: string;
}

export interface Answer {
  status: number;
  /** What `Retry-After` asks for, in milliseconds. */
  retryAfterMs: number | null;
}

/**
 * POSTs one message with Standard Webhooks headers. Redirects are not followed, the answer's body is
 * not read. The address that was checked is the one connected to, so that a name cannot change its
 * mind in between.
 * @param permitted private places that the operator allows
 * @param wait how long for the answer, a day at most, and what ends the wait before that, as soon as the process stops
 * @throws Error when there is none in that time or the address is refused
 */
export function post(
  message: Message,
  permitted: PrivateHosts,
  wait: { patienceMs?: number; gone?: AbortSignal } = {},
): Promise<Answer> {
  const refused = refuseUrl(message.url, permitted);
  if (refused !== null) return Promise.reject(new Error(`the URL ${refused}`));
  const waitMs = Math.min(wait.patienceMs ?? TIMEOUT_MS, MAX_PATIENCE_MS);
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
        const after = Number(response.headers['retry-after']);
        resolve({ status: response.statusCode ?? 0, retryAfterMs: Number.isFinite(after) ? after * 1000 : null });
        response.destroy();
      },
    );
    const end = (why: string) => () => void call.destroy(new Error(why));
    // not signals: one of `AbortSignal.timeout` stays for all of its time, which may be a day
    const late = setTimeout(end(`no answer within ${waitMs / 1000} s`), waitMs).unref();
    const stop = end('the process is being stopped');
    if (wait.gone?.aborted) stop();
    wait.gone?.addEventListener('abort', stop);
    call.on('close', () => {
      clearTimeout(late);
      wait.gone?.removeEventListener('abort', stop);
    });
    call.on('error', reject);
    call.end(message.body);
  });
}

/** @param at seconds since 1970 */
function signedHeaders(message: Message, at: number): Record<string, string> {
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
