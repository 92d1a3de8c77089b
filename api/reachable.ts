import { setTimeout as sleep } from 'node:timers/promises';
import * as figures from '../services/figures/figures.ts';
import type { Context } from '../services/shared/service.ts';

/** Time limit for an answer of PostgreSQL or Temporal. */
const LIMIT_MS = 2_000;

/** Whether Temporal answers within two seconds. */
export const checkTemporal = ({ client }: Context): Promise<'ok' | 'unreachable'> =>
  client
    .withDeadline(Date.now() + LIMIT_MS, () => client.workflowService.getSystemInfo({}))
    .then(
      () => 'ok',
      () => 'unreachable',
    );

/** Whether a worker publishes the log. Without one, calls are still answered, but workflows stand still. */
export const isFollowed = (ctx: Context): Promise<boolean> => orAfterLimit(figures.isFollowed(ctx), false);

/** The answer, or `otherwise` after an error or two seconds. */
export function orAfterLimit<T, U>(answer: Promise<T>, otherwise: U): Promise<T | U> {
  return Promise.race([answer.catch(() => otherwise), sleep(LIMIT_MS, otherwise, { ref: false })]);
}
