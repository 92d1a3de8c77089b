import * as figures from '../services/figures/figures.ts';
import type { Context } from '../services/shared/context.ts';

/** Time limit for the answer of PostgreSQL or Temporal. */
export const ENGINE_MS = 2_000;

/** Whether Temporal answers within two seconds. */
export async function checkTemporal({ client }: Context): Promise<'ok' | 'unreachable'> {
  const ask = client.withDeadline(Date.now() + ENGINE_MS, () => client.workflowService.getSystemInfo({}));
  return ask.then(
    () => 'ok' as const,
    () => 'unreachable' as const,
  );
}

/** Whether a worker publishes the log; without one, calls are still answered, and workflows stand still. */
export async function isFollowed(ctx: Context): Promise<boolean> {
  const ask = figures.isFollowed(ctx).catch(() => false);
  return Promise.race([ask, after(ENGINE_MS, false)]);
}

/** The default answer, after a time limit. */
export const after = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
