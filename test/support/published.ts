import type { RunningProcess } from '../../cli/process.ts';
import * as figures from '../../services/figures/figures.ts';
import { eventually } from './client.ts';

/** How many lines of the log are behind the slowest lane: 0 when workflows have received all of them. */
export const unpublished = async ({ ctx }: RunningProcess) => (await figures.unpublished(ctx)).waiting;

/** Until every workflow has received what happened. */
export const published = (running: RunningProcess, ms?: number) =>
  eventually(async () => (await unpublished(running)) === 0, ms);
