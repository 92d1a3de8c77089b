import type { Config } from '../../runtime/config.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** Settings of services (docs/configuration.md). */
export type ServiceConfig = Pick<
  Config,
  | 'privateCallbacks'
  | 'signalNamespaces'
  | 'maxRotations'
  | 'retention'
  | 'archive'
  | 'auditSkewSeconds'
  | 'openId'
  | 'fullText'
>;

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
