import type { IncomingMessage } from 'node:http';
import { z } from '@hono/zod-openapi';
import { getCookie, setCookie } from 'hono/cookie';
import type { Role } from '../../contract/keys.ts';
import { Session, SignIn, SignInWays } from '../../contract/sessions.ts';
import * as adminLog from '../../services/access/admin-log.ts';
import * as keys from '../../services/access/keys.ts';
import * as openId from '../../services/access/open-id.ts';
import * as sessions from '../../services/access/sessions.ts';
import { Problem } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { type Caller, SESSION_COOKIE } from '../auth.ts';
import { type ApiContext, answer, endpoint, ok } from '../endpoint.ts';
import { escaped, htmlPage } from '../html.ts';
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

const shared = { tag: 'Sessions', scope: 'any' } as const;
const signedIn = { ...shared, roles: ['producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model'] as Role[] };

export const signInEndpoint = endpoint('signIn', 'POST /v1/session', {
  ...shared,
  summary: 'Exchange a key for a session cookie, of 12 hours at most; it ends with its key',
  roles: null,
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
  ...signedIn,
  summary: 'The caller, by session or by key',
  answers: { 200: Session },
  handle: async ({ caller }) => ok(view(caller)),
});

export const signOutEndpoint = endpoint('signOut', 'DELETE /v1/session', {
  ...signedIn,
  summary: 'End my session and clear its cookie',
  answers: { 204: z.undefined() },
  async handle({ api, ctx, caller, incoming, headers }) {
    if (caller.session) await sessions.end(ctx, caller.session.hash);
    headers['set-cookie'] = sessionCookie(api, incoming, '', 0);
    return answer(204, undefined);
  },
});

export const getSignInWays = endpoint('getSignInWays', 'GET /v1/sign-in', {
  ...shared,
  summary: 'Whether people sign in at an OpenID Connect provider, at `/sign-in/openid`, or with a key only',
  roles: null,
  answers: { 200: SignInWays },
  handle: async ({ ctx: { config } }) => ok({ openId: config.openId ? { issuer: config.openId.issuer } : null }),
});

const START = '/sign-in/openid';
const CALLBACK = `${START}/callback`;
/** The cookie of one sign-in. Lax, because the browser returns from another site; it gives no access by itself. */
const cookieOf = (state = '') => `docket_sign_in_${state.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, 12)}`;
const STARTED_SECONDS = 600;
const Started = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });
/** The pages contain only text. */
const PLAIN = { 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" };
/** A path of this server. */
const PLACE = /^\/(?![/\\])[^\s\\]{0,1000}$/;

/** Pages that redirect a browser to the provider and back. They are not part of the API. */
export const signInPages = (api: Api) => ({
  [START]: shown(api, start),
  [CALLBACK]: shown(api, finish),
});

async function start(api: Api, c: ApiContext): Promise<Response> {
  checkOffered(api);
  const { url, started } = await openId.start(api.ctx);
  const asked = c.req.query('to') ?? '/';
  const to = PLACE.test(asked) ? asked : '/';
  const value = Buffer.from(JSON.stringify({ ...started, to })).toString('base64url');
  remember(api, c, cookieOf(started.state), value, STARTED_SECONDS);
  return c.redirect(url);
}

async function finish(api: Api, c: ApiContext): Promise<Response> {
  checkOffered(api);
  const cookie = cookieOf(c.req.query('state'));
  const started = startedOf(getCookie(c, cookie));
  remember(api, c, cookie, '', 0);
  const { remoteAddress } = c.env.incoming.socket;
  const query = new URL(c.req.url).search;
  const person = await api.attempts.run(remoteAddress, () => openId.finish(api.ctx, query, started));
  const { made } = await admitted(api, person);
  if (!made) throw new Problem('unauthenticated', 'this session has ended');
  c.header('set-cookie', sessionCookie(api, c.env.incoming, made.token, made.seconds), { append: true });
  // a redirect would still come from the provider's site, and the browser would not send the session's cookie
  return c.html(
    page('You are signed in', `<meta http-equiv="refresh" content="0; url=${escaped(started.to)}">`),
    200,
    PLAIN,
  );
}

/** Recorded in the admin log, because it makes a key or changes its role. */
function admitted({ ctx }: Api, { role, name, ...person }: openId.Person) {
  const call = { keyId: null, actor: name, operation: 'signInAtProvider', path: START, requestId: null };
  return adminLog.record(ctx, { ...call, body: { role, ...person } }, async () => {
    const made = await sessions.create(ctx, await keys.createForPerson(ctx, { role, name, ...person }));
    return { status: made ? 201 : 401, made };
  });
}

/** @throws Problem `forbidden`, `not_found` */
function checkOffered({ ctx, config }: Api): void {
  if (config.open) throw new Problem('forbidden', 'this server asks for no key');
  openId.providerOf(ctx);
}

/** @throws Problem `unauthenticated` */
function startedOf(cookie: string | undefined): openId.StartedSignIn & { to: string } {
  try {
    return Started.parse(JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString()));
  } catch {
    throw new Problem('unauthenticated', 'this sign-in was not begun here, or more than ten minutes ago: begin again');
  }
}

function remember({ config }: Api, c: ApiContext, cookie: string, value: string, maxAge: number): void {
  setCookie(c, cookie, value, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/',
    maxAge,
    secure: isHttps(config.publicUrl),
  });
}

/** Shows problems as a page, because people see it. */
const shown = (api: Api, work: (api: Api, c: ApiContext) => Promise<Response>) => async (c: ApiContext) => {
  try {
    return await api.auth.stranger(() => work(api, c));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, status, fields, message } = error;
    api.metrics.refused.inc({ code });
    if (status >= 500) api.ctx.log.warn({ err: message }, 'a sign-in failed');
    if (status === 429 || status === 503) c.header('retry-after', String(fields.retryAfter ?? 1));
    return c.html(page('Not signed in', '', message), status as 401, PLAIN);
  }
};

const page = (title: string, head: string, text = '') =>
  htmlPage(title, `<h1>${title}</h1>\n<p>${escaped(text)}</p>\n<p><a href="/">Go to Docket</a></p>`, head);
