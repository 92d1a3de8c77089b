import type { Outcome } from '../frame.ts';
import { DEFAULT_TTL, type LmstfyCall, numberIn } from './call.ts';

// The dead letter of a queue is the buried jobs of its topic.

/** lmstfy takes what fits into 64 bits. */
const MOST = 2 ** 63;

const limitOf = (call: LmstfyCall) =>
  Math.min(numberIn(call, 'limit', 1, { least: 1, most: MOST }), Number.MAX_SAFE_INTEGER);

export async function deadLetter({ api, namespace, queue, topic }: LmstfyCall): Promise<Outcome> {
  const { topics, jobs } = api.services;
  const [{ buried = 0 }, head] = await Promise.all([topics.countsOf(topic), jobs.first(topic, 'buried')]);
  return {
    status: 200,
    body: { namespace, queue, deadletter_size: buried, deadletter_head: head ? String(head.seq) : '' },
  };
}

export async function deadLetterSize({ api, namespace, queue, topic }: LmstfyCall): Promise<Outcome> {
  const { buried = 0 } = await api.services.topics.countsOf(topic);
  return { status: 200, body: { namespace, queue, size: buried } };
}

/** Makes the longest buried jobs ready for one attempt more. */
export async function respawn(call: LmstfyCall): Promise<Outcome> {
  const { api, topic, actor } = call;
  const limit = limitOf(call);
  const ttl = numberIn(call, 'ttl', DEFAULT_TTL);
  const count = await api.services.jobs.respawn(topic, limit, ttl === 0 ? null : ttl, actor);
  return { status: 200, body: { msg: 'respawned', count } };
}

export async function clearDeadLetter(call: LmstfyCall): Promise<Outcome> {
  await call.api.services.jobs.clear(call.topic, 'buried', limitOf(call), call.actor);
  return { status: 204, body: null };
}
