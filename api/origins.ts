import type { IncomingMessage } from 'node:http';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** The part of a call that tells which page made it. */
export type Sent = Pick<IncomingMessage, 'method' | 'headers'>;

/** A page of another site must not reach an open server through a name of its own (DNS rebinding). */
export const isLoopbackName = ({ headers: { host } }: Sent): boolean => LOOPBACK_HOST.test(host ?? 'localhost');

/** Whether a page of another site made the call. Even one without a body would have an effect. */
export function isForeign({ headers: { origin, 'sec-fetch-site': site } }: Sent): boolean {
  if (site === 'cross-site') return true;
  return origin !== undefined && !LOOPBACK_HOST.test(hostOf(origin) ?? '');
}

/**
 * Whether a page of this server made a call to which the browser has added its cookie. A call that changes something must
 * name this origin. A GET may name none, because users also type URLs, but no other one.
 * @param publicUrl the server's URL, where a proxy hides that name from it
 */
export function isOwnPage({ method, headers }: Sent, publicUrl: string | undefined): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (site === 'same-origin') return true;
  if (site !== undefined && site !== 'none') return false;
  if (origin === undefined) return method === 'GET' || method === 'HEAD';
  const from = hostOf(origin);
  return from !== undefined && (from === host?.toLowerCase() || from === hostOf(publicUrl ?? ''));
}

/** With its port, unless that is the scheme's own. */
const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);
