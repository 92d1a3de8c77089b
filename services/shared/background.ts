import { Repeating } from '../../runtime/repeating.ts';
import { type Context, perContext } from './service.ts';

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
