import type { Configuration } from 'openid-client';
import type { Role } from '../../contract/keys.ts';
import { ROLES } from '../../contract/kinds.ts';
import { Name } from '../../contract/names.ts';
import { type Context, Problem, perContext, type ServiceConfig } from '../shared/service.ts';

/** What is remembered of a sign-in between its start and its end, by the browser. */
export interface StartedSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** Somebody whom the provider vouches for. */
export interface Person {
  issuer: string;
  /** The person as the provider knows them, for good. */
  issuerSubject: string;
  name: string;
  role: Role;
}

type OpenIdConfig = NonNullable<ServiceConfig['openId']>;

const TIMEOUT_SECONDS = 10;

/** The library is loaded when somebody signs in. */
const library = () => import('openid-client');

/** What the provider says of itself, once it was reached. */
const discovery = perContext(() => ({ done: undefined as Promise<Configuration> | undefined }));

/** Where people sign in. @throws Problem `not_found` where they sign in with keys only */
export function providerOf({ config: { openId } }: Context): OpenIdConfig {
  if (!openId) throw new Problem('not_found', 'this server has no OpenID Connect provider');
  return openId;
}

/** @throws Problem `unavailable` */
async function discovered(ctx: Context): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = providerOf(ctx);
  const { allowInsecureRequests, discovery: discover } = await library();
  const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
  const state = discovery(ctx);
  const options = { execute, timeout: TIMEOUT_SECONDS };
  state.done ??= discover(new URL(issuer), clientId, clientSecret, undefined, options);
  return state.done.catch((error: unknown) => {
    state.done = undefined;
    throw new Problem('unavailable', `the provider ${issuer} cannot be reached: ${(error as Error).message}`);
  });
}

/**
 * Begins to sign in at an OpenID Connect provider, by the code flow with PKCE.
 * @returns where the browser goes, and what it has to bring back
 * @throws Problem `not_found`, `unavailable`
 */
export async function start(ctx: Context): Promise<{ url: string; started: StartedSignIn }> {
  const provider = await discovered(ctx);
  const c = await library();
  const started = { state: c.randomState(), nonce: c.randomNonce(), verifier: c.randomPKCECodeVerifier() };
  const { state, nonce, verifier } = started;
  const challenge = await c.calculatePKCECodeChallenge(verifier);
  const asked = { redirect_uri: providerOf(ctx).redirectUri, scope: 'openid profile email', state, nonce };
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' };
  return { url: c.buildAuthorizationUrl(provider, { ...asked, ...proof }).href, started };
}

/**
 * Finds out who has come back.
 * @param query what the provider sent with the browser
 * @throws Problem `unauthenticated`, `forbidden` for one without a role here, `not_found`, `unavailable`
 */
export async function finish(ctx: Context, query: string, { state, nonce, verifier }: StartedSignIn): Promise<Person> {
  const config = providerOf(ctx);
  const provider = await discovered(ctx);
  const { authorizationCodeGrant } = await library();
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  const url = new URL(config.redirectUri + query);
  const tokens = await authorizationCodeGrant(provider, url, checks).catch(refused);
  return personOf(config, { ...tokens.claims() });
}

/** @throws Problem */
function refused(error: Error & { code?: string }): never {
  const away = error instanceof TypeError || error.code === 'OAUTH_TIMEOUT';
  if (away) throw new Problem('unavailable', `the provider cannot be reached: ${error.message}`);
  throw new Problem('unauthenticated', `the provider did not sign you in: ${error.message}`);
}

/** What a person may do here: every provider can be made to send a claim of this name. */
const ROLE_CLAIM = 'docket_role';
/** How events name a person; of OpenID Connect's standard claims. */
const NAME_CLAIM = 'preferred_username';

function personOf({ issuer }: OpenIdConfig, claims: Record<string, unknown>): Person {
  const held = [claims[ROLE_CLAIM]].flat();
  // of several the first of these: admin, supervisor, consumer, agent, reviewer, producer; no person is a model
  const role = ROLES.toReversed().find((each) => held.includes(each) && each !== 'model');
  if (!role) throw new Problem('forbidden', `your account has no role here: its claim ${ROLE_CLAIM} names none`);
  const name = Name.safeParse(claims[NAME_CLAIM]);
  if (!name.success)
    throw new Problem(
      'forbidden',
      `your account has no name here: its claim ${NAME_CLAIM} ${name.error.issues[0]?.message}`,
    );
  return { issuer, issuerSubject: String(claims.sub), name: name.data, role };
}
