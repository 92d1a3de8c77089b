import type { Config } from '../../runtime/config.ts';
import { Repeating } from '../../runtime/repeating.ts';
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

/**
 * Work in the background: one run at a time, and one more for calls of `look` during it. `stop` waits for the current one.
 * @param failed what the log says of a run that failed
 */
export function background(work: (ctx: Context, signal: AbortSignal) => Promise<void>, failed: string) {
  const states = perContext((ctx) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const warn = (error: Error) => void (signal.aborted || ctx.log.warn({ err: error.message }, failed));
    return { stopping, runs: new Repeating(() => work(ctx, signal), warn) };
  });
  return {
    look: (ctx: Context): void => states(ctx).runs.run(),
    stop(ctx: Context): Promise<void> {
      states(ctx).stopping.abort();
      return states(ctx).runs.stop();
    },
  };
}
