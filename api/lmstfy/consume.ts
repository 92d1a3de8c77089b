import { popInOrder } from '../../services/jobs/lmstfy.ts';
import type { Outcome } from '../frame.ts';
import { DEFAULT_TTR, type LmstfyCall, numberIn } from './call.ts';
import { jobView } from './jobs.ts';

/** A reservation lasts at least as long as Docket's TTR may be short. */
const LEAST_TTR = 1;
const MOST_AT_ONCE = 100;
/** lmstfy's clients give up after as long. */
const LONGEST_WAIT = 600;

/** Jobs of the first queue go first, whatever their priorities; of several that are asked for it waits for the first. */
export async function consume(call: LmstfyCall): Promise<Outcome> {
  const { api, namespace, queues, actor: holder, signal } = call;
  const ttr = Math.max(LEAST_TTR, numberIn(call, 'ttr', DEFAULT_TTR));
  const timeout = numberIn(call, 'timeout', 0);
  const count = numberIn(call, 'count', 1, { least: 1, most: MOST_AT_ONCE });
  const topics = queues.map(({ topic }) => topic);
  const waitSeconds = Math.min(timeout, LONGEST_WAIT);
  const jobs = await popInOrder(api.ctx, { topics, count, waitSeconds, holder, signal }, ttr);
  const handed = jobs.map((job) => ({ msg: 'new job', ...jobView(namespace, job, job.updated_at.getTime()) }));
  const [first] = handed;
  if (!first) return { status: 404, body: { msg: 'no job available' } };
  return { status: 200, body: count > 1 ? handed : first };
}
