import * as jobs from '../../services/jobs/jobs.ts';
import { clear } from '../../services/jobs/lmstfy.ts';
import { counts } from '../../services/jobs/topics.ts';
import { Problem } from '../../services/shared/problems.ts';
import type { Outcome } from '../frame.ts';
import type { LmstfyCall } from './call.ts';
import { peeked } from './jobs.ts';

/** The job that would be handed out next. */
export async function peekQueue(call: LmstfyCall): Promise<Outcome> {
  const answer = await peeked(call, await jobs.first(call.api.ctx, call.topic, 'ready'));
  if (!answer) throw new Problem('not_found', 'the queue is empty');
  return answer;
}

/** How many jobs could be handed out. */
export async function size({ api, namespace, queue, topic }: LmstfyCall): Promise<Outcome> {
  const { ready = 0 } = (await counts(api.ctx, topic)).get(topic) ?? {};
  return { status: 200, body: { namespace, queue, size: ready } };
}

/** Deletes what could be handed out; what is delayed, reserved or buried stays, as in lmstfy. */
export async function destroy({ api, topic, actor }: LmstfyCall): Promise<Outcome> {
  // as many as there are now: others may add more than one call can delete
  const { ready = 0 } = (await counts(api.ctx, topic)).get(topic) ?? {};
  await clear(api.ctx, topic, 'ready', ready, actor);
  return { status: 204, body: null };
}
