import type { IncomingMessage } from 'node:http';
import { z } from '@hono/zod-openapi';
import { Session, SignIn } from '../../contract/sessions.ts';
import * as sessions from '../../services/access/sessions.ts';
import { Problem } from '../../services/shared/problems.ts';
import type { Api } from '../api.ts';
import { type Caller, SESSION_COOKIE } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { isOwnPage } from '../origins.ts';

const isHttps = (url: string | undefined) => url?.startsWith('https:') ?? false;

/** `Secure` where the browser uses https: its page's origin shows that, also behind a proxy that uses http. */
export function sessionCookie({ config }: Api, incoming: IncomingMessage, token: string, seconds: number): string {
  const secure = isHttps(config.publicUrl) || isHttps(incoming.headers.origin);
  const always = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${Math.floor(seconds)}`;
  return `${SESSION_COOKIE}=${token}; ${always}${secure ? '; Secure' : ''}`;
}

const view = ({ id, role, subject, queues, name, session }: Caller) => ({
  ...{ open: id === 'open', role, subject, queues, name },
  expiresAt: session?.expiresAt.toISOString() ?? null,
});

export const signInEndpoint = endpoint('signIn', 'POST /v1/session', {
  tag: 'Sessions',
  summary: 'Exchange a key for a session cookie, of 12 hours at most; it ends with its key',
  roles: null,
  scope: 'any',
  body: SignIn,
  answers: { 201: Session },
  problems: ['unauthenticated', 'forbidden'],
  async handle({ api, ctx, body: { key }, incoming, headers }) {
    if (api.config.open) throw new Problem('forbidden', 'this server asks for no key');
    const { origin, 'sec-fetch-site': site } = incoming.headers;
    if ((origin ?? site) !== undefined && !isOwnPage(incoming, api.config.publicUrl))
      throw new Problem('forbidden', 'pages of other sites may not sign in here');
    const { remoteAddress } = incoming.socket;
    const { caller, made } = await api.attempts.run(remoteAddress, async () => {
      const caller = await api.auth.keyCaller(key);
      const made = await sessions.create(ctx, caller.id);
      if (!made) throw new Problem('unauthenticated', 'this key has ended');
      return { caller, made };
    });
    headers['set-cookie'] = sessionCookie(api, incoming, made.token, made.seconds);
    return answer(201, { ...view(caller), expiresAt: made.expiresAt.toISOString() });
  },
});

export const getSessionEndpoint = endpoint('getSession', 'GET /v1/session', {
  tag: 'Sessions',
  summary: 'The caller, by session or by key',
  roles: ['producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model'],
  scope: 'any',
  answers: { 200: Session },
  handle: async ({ caller }) => ok(view(caller)),
});

export const signOutEndpoint = endpoint('signOut', 'DELETE /v1/session', {
  tag: 'Sessions',
  summary: 'End my session and clear its cookie',
  roles: ['producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model'],
  scope: 'any',
  answers: { 204: z.undefined() },
  async handle({ api, ctx, caller, incoming, headers }) {
    if (caller.session) await sessions.end(ctx, caller.session.hash);
    headers['set-cookie'] = sessionCookie(api, incoming, '', 0);
    return answer(204, undefined);
  },
});
