import type { PrivateHosts } from '../../domain/private-hosts.ts';
import type { RetentionRules } from '../../domain/retention.ts';
import type { Runtime } from '../../runtime/runtime.ts';

export interface OpenIdConfig {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** Where the provider sends people back to. */
  redirectUri: string;
}

/** Settings of services (docs/configuration.md). */
export interface ServiceConfig {
  privateCallbacks: PrivateHosts;
  /** Rotating tasks that an executor may have (S4.9). */
  maxRotations: number;
  /** How long finished items are kept. */
  retention: RetentionRules;
  /** The folder into which finished items are written before they are cleared; undefined: nowhere. */
  archive: string | undefined;
  /** How far ahead of the database's clock an audit time may be, in seconds (S1.4). */
  auditSkewSeconds: number;
  /** Where people sign in; undefined: with keys only. */
  openId: OpenIdConfig | undefined;
}

/** The first argument of every service function: the process's runtime, and the settings of services. */
export interface Context extends Runtime {
  readonly config: ServiceConfig;
}

/**
 * State that a module keeps for each context, such as the calls that share a statement. Made at its first use, so that
 * a module has no state of its own and a process may have several contexts.
 */
export function perContext<T>(make: (ctx: Context) => T): (ctx: Context) => T {
  const made = new WeakMap<Context, T>();
  return (ctx) => {
    let state = made.get(ctx);
    if (state === undefined) {
      state = make(ctx);
      made.set(ctx, state);
    }
    return state;
  };
}
