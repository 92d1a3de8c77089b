import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { listening } from './listening.ts';

export const CLIENT = { DOCKET_OIDC_CLIENT_ID: 'docket', DOCKET_OIDC_CLIENT_SECRET: 'not-a-secret-of-anyone' };

type Claims = Record<string, unknown>;

/**
 * An OpenID Connect provider of its own, with its forms to sign in and to agree.
 * @param people what is claimed of each, by the name that is typed in
 * @param redirectUri where Docket takes them back
 */
export async function startProvider(people: Record<string, Claims>, redirectUri: string): Promise<{ issuer: string }> {
  const { DOCKET_OIDC_CLIENT_ID: client_id, DOCKET_OIDC_CLIENT_SECRET: client_secret } = CLIENT;
  const server = createServer();
  const issuer = await listening(server);
  const provider = new Provider(issuer, {
    clients: [{ client_id, client_secret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub', 'docket_role', 'realm_access'], profile: ['preferred_username'], email: ['email'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['of this test'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
  });
  server.on('request', provider.callback());
  return { issuer };
}

/** A browser's cookies, and a walk through redirects and forms without one. */
export class Walker {
  readonly #cookies = new Map<string, Map<string, string>>();

  cookieOf(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).host)?.get(name);
  }

  /** One call, no further than its answer. */
  async call(url: string, form?: Record<string, string>): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...{ redirect: 'manual', headers: { cookie, 'sec-fetch-site': 'same-origin' } },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** On through redirects to the first answer that is none, or to a place that begins with `until`. */
  async follow(
    url: string,
    until: string,
    form?: Record<string, string>,
  ): Promise<{ at: string; response?: Response }> {
    let at = url;
    for (let sent = form; ; sent = undefined) {
      if (at.startsWith(until)) return { at };
      const response = await this.call(at, sent);
      const location = response.headers.get('location');
      if (!location) return { at, response };
      at = new URL(location, at).href;
    }
  }

  /** Signs in at the provider as somebody, from where Docket has sent the browser. @returns where the provider sends it back to */
  async signIn(url: string, login: string, redirectUri: string): Promise<string> {
    const first = await this.follow(url, redirectUri);
    // the provider knows this browser already
    if (!first.response) return first.at;
    const asked = await this.follow(actionOf(await textOf(first), first.at), redirectUri, {
      ...{ prompt: 'login', login, password: 'any' },
    });
    if (!asked.response) return asked.at;
    return (await this.follow(actionOf(await textOf(asked), asked.at), redirectUri, { prompt: 'consent' })).at;
  }
}

const textOf = async ({ response }: { response?: Response }) => (await response?.text()) ?? '';

function actionOf(html: string, at: string): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
  if (!action) throw new Error(`there is no form at ${at}: ${html.slice(0, 300)}`);
  return new URL(action, at).href;
}
