import type { Item } from '../../contract/items.ts';
import { isFinal } from '../../domain/items.ts';
import { bodyBytes } from '../../domain/jobs.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import { Problem } from '../../services/shared/problems.ts';
import { orNone } from '../dialects.ts';
import type { Outcome } from '../frame.ts';
import type { LmstfyCall } from './call.ts';

const NUMBER = /^\d{1,15}$/;
/** What lmstfy's counter holds at most: of jobs that no one has given a number of attempts. */
const UNLIMITED = 65_535;

/**
 * A job as lmstfy shows it.
 * @param nowMs the database's time
 */
export function jobView(namespace: string, job: Item, nowMs: number) {
  const { deadline_at: deadline, max_attempts: most, attempts, created_at: created } = job;
  return {
    namespace,
    queue: job.queue.slice(namespace.length + 1),
    job_id: String(job.seq),
    data: bodyBytes(job.body).toString('base64'),
    // 0 means for ever
    ttl: deadline ? Math.max(1, Math.round((deadline.getTime() - nowMs) / 1000)) : 0,
    elapsed_ms: Math.max(0, Math.round(nowMs - created.getTime())),
    remain_tries: most === null ? UNLIMITED : Math.max(0, most - attempts),
    attributes: job.attributes,
  };
}

/** As of now; undefined: the job has ended. */
export async function peeked({ api, namespace }: LmstfyCall, job: Item | undefined): Promise<Outcome | undefined> {
  const stats = job && (await orNone(jobs.stats(api.ctx, job.seq)));
  return stats && { status: 200, body: jobView(namespace, job, job.created_at.getTime() + stats.age * 1000) };
}

export async function peekJob(call: LmstfyCall): Promise<Outcome> {
  const answer = await peeked(call, await find(call));
  if (!answer) throw new Problem('not_found', 'job not found');
  return answer;
}

/** lmstfy's DELETE, which acknowledges as well: whoever has it reserved, the job is never handed out again. */
export async function ack(call: LmstfyCall): Promise<Outcome> {
  const job = await find(call);
  if (job) await end(call, job);
  return { status: 204, body: null };
}

/** One that is reserved is finished, another one called off. */
export async function end({ api, actor }: LmstfyCall, { id, state }: Item): Promise<void> {
  if (state === 'held') await jobs.finish(api.ctx, id, null, actor);
  else await jobs.remove(api.ctx, id, actor, true);
}

/** The open job that the path names, if it is one of the queue. */
export async function find({ api, topic, param }: LmstfyCall): Promise<Item | undefined> {
  const number = param('job');
  const job = NUMBER.test(number) ? await orNone(jobs.find(api.ctx, Number(number))) : undefined;
  return job?.queue === topic && !isFinal(job.state) ? job : undefined;
}
