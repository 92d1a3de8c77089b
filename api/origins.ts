import type { IncomingMessage } from 'node:http';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** What a browser says of itself with a call. */
export type Sent = Pick<IncomingMessage, 'method' | 'headers'>;

/** A page of another site must not reach an open server through a name of its own (DNS rebinding). */
export const isLoopbackName = ({ headers: { host } }: Sent): boolean => LOOPBACK_HOST.test(host ?? 'localhost');

/** What a browser sends for a page of another site: even a call without a body would be done. */
export function isForeign({ headers: { origin, 'sec-fetch-site': site } }: Sent): boolean {
  if (site === 'cross-site') return true;
  return origin !== undefined && !LOOPBACK_HOST.test(hostOf(origin) ?? '');
}

/**
 * Whether a call that a browser has added its cookie to was made by a page of this server. What changes something must
 * say so; a GET must not say otherwise, because a user may also type it.
 * @param publicUrl where the server is reached, if a proxy hides that name from it
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
