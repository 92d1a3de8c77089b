import * as jobs from '../../services/jobs/jobs.ts';
import * as lmstfy from '../../services/jobs/lmstfy.ts';
import { counts } from '../../services/jobs/topics.ts';
import type { Outcome } from '../frame.ts';
import { DEFAULT_TTL, type LmstfyCall, numberIn } from './call.ts';

// The dead letter of a queue is the buried jobs of its topic.

/** lmstfy takes what fits into 64 bits. */
const MOST = 2 ** 63;

const limitOf = (call: LmstfyCall) =>
  Math.min(numberIn(call, 'limit', 1, { least: 1, most: MOST }), Number.MAX_SAFE_INTEGER);

export async function deadLetter({ api, namespace, queue, topic }: LmstfyCall): Promise<Outcome> {
  const [found, head] = await Promise.all([counts(api.ctx, topic), jobs.first(api.ctx, topic, 'buried')]);
  const { buried = 0 } = found.get(topic) ?? {};
  return {
    status: 200,
    body: { namespace, queue, deadletter_size: buried, deadletter_head: head ? String(head.seq) : '' },
  };
}

export async function deadLetterSize({ api, namespace, queue, topic }: LmstfyCall): Promise<Outcome> {
  const { buried = 0 } = (await counts(api.ctx, topic)).get(topic) ?? {};
  return { status: 200, body: { namespace, queue, size: buried } };
}

/** Makes the longest buried jobs ready for one attempt more. */
export async function respawn(call: LmstfyCall): Promise<Outcome> {
  const { api, topic, actor } = call;
  const limit = limitOf(call);
  const ttl = numberIn(call, 'ttl', DEFAULT_TTL);
  const count = await lmstfy.respawn(api.ctx, topic, limit, ttl === 0 ? null : ttl, actor);
  return { status: 200, body: { msg: 'respawned', count } };
}

export async function clearDeadLetter(call: LmstfyCall): Promise<Outcome> {
  await lmstfy.clear(call.api.ctx, call.topic, 'buried', limitOf(call), call.actor);
  return { status: 204, body: null };
}
