// Does with the TypeScript client what a test says: program.mjs consume|produce|calls|pull|taskCalls JSON
import { appendFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bury, Client, Consumer, Puller, Release } from '@docket/client';
import { asked, client, named, refusal, run, say, servers } from './program-common.mjs';

async function handler({ id, attempt, value }, { signal }) {
  say({ began: id, attempt, at: Date.now() / 1000 });
  if (value.untilLost) {
    while (!signal.aborted) await sleep(50);
    return say({ lost: id });
  }
  await sleep((value.seconds ?? 0) * 1000);
  if (attempt <= (value.failures ?? 0)) {
    if (value.fail === 'bury') throw new Bury('as asked');
    if (value.fail === 'release') throw new Release(value.delay);
    throw new Error('as asked');
  }
  say({ ended: id });
}

async function consume() {
  const { topics, concurrency, waitSeconds = 2 } = asked;
  const onError = (error, job) => say({ error: error.name, text: error.message, job: job?.id });
  const consumer = new Consumer(client, { topics, handler, concurrency, waitSeconds, onError });
  process.once('SIGTERM', () => consumer.stop());
  say({ ready: true });
  await consumer.run();
}

async function produce() {
  const { prefix, count, topic, value, TTR = 60 } = asked;
  const jobs = Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, topic, TTR, body: value }));
  const results = await client.addMany(jobs);
  say({ added: results.filter((r) => r.success).length });
}

async function calls() {
  const [first, second] = [await client.add(asked.job), await client.add(asked.job)];
  const { id, topic } = asked.job;
  say({
    added: [!first.already, !second.already],
    peeked: await client.peek({ id }),
    next: (await client.peek({ topic }))?.id,
    got: (await client.get(id)).id,
    unknown: await client.peek({ id: 'nobody' }),
    conflict: await named(client.add({ ...asked.job, body: 'other' })),
    invalid: await named(client.add({ ...asked.job, topic: '..' })),
    deleted: [await named(client.delete(id)), await named(client.delete(id)), await named(client.delete('nobody'))],
    mixed: (
      await client.addMany([
        { ...asked.job, id: 'fine' },
        { ...asked.job, topic: '..', id: 'bad' },
      ])
    ).map((r) => r.success),
    key: await named(new Client({ servers, apiKey: 'wrong' }).peek({ id })),
    down: await named(new Client({ servers: 'http://127.0.0.1:1', retrySeconds: 0 }).peek({ id })),
    missing: await named(client.get('nobody')),
  });
}

/** How often a task's handler has been begun, this time too, by whatever process. */
function begun(taskId) {
  appendFileSync(`${taskId}.begun`, '.');
  return statSync(`${taskId}.begun`).size;
}

async function pulled({ taskId, logId, redo, params }) {
  say({ began: taskId, logId, redo, at: Date.now() / 1000 });
  const failing = begun(taskId) <= (params.failures ?? 0);
  if (failing || !params.fail) await sleep((params.seconds ?? 0) * 1000);
  if (failing && params.fail === 'error') throw new Error('as asked');
  if (failing && params.fail === 'unsayable') return 1n;
  if (failing && params.fail === 'large') return 'x'.repeat(300_000);
  say({ ended: taskId });
  return { of: taskId, empty: {} };
}

async function pull() {
  const { uid, exclude, waitSeconds = 2, stuckAfter, backoffSeconds } = asked;
  const onError = (error, dispatch) => say({ error: error.name, text: error.message, task: dispatch?.taskId });
  const backoff = backoffSeconds === undefined ? undefined : () => backoffSeconds;
  const puller = new Puller(client, {
    ...{ uid, handler: pulled, exclude, waitSeconds, stuckAfter, backoff, onError },
  });
  process.once('SIGTERM', () => puller.stop());
  say({ ready: true });
  await puller.run();
}

async function taskCalls() {
  const { uid, gid, template, task, later } = asked;
  await client.addTemplate({ name: template.id, ...template });
  await client.addTemplate({ name: template.id, ...template });
  await client.putGroup(gid, [uid]);
  const ids = [await client.addTask(task), await client.addTask(task), await client.addTask(later)].map((t) => t.id);
  const first = await client.next(uid);
  const again = await client.next(uid);
  const { logId } = first.dispatch;
  const stale = await client.complete(uid, 'lt_other').catch((error) => error);
  const completedAt = await client.complete(uid, logId, { done: [1, 'ä', null] });
  const last = await client.next(uid, { exclude: [later.id], waitSeconds: 0.2 });
  const stranger = new Client({ servers, apiKey: 'wrong' });
  say({
    ids,
    first: { taskId: first.dispatch.taskId, params: first.dispatch.params, redo: first.dispatch.redo },
    same: again.dispatch.logId === logId && again.dispatch.occurrence === first.dispatch.occurrence,
    redo: again.dispatch.redo,
    stale: stale.name.replace(/Error$/, ''),
    current: stale.current === logId,
    repeated: (await client.complete(uid, logId, { done: [1, 'ä', null] })) === completedAt,
    settled: await refusal(client.complete(uid, logId, 'other')),
    last: { dispatch: last.dispatch, nextAt: last.nextAt, reasons: last.reasons },
    conflict: await refusal(client.addTask({ ...task, dispatchTimes: 9 })),
    mismatch: await refusal(client.addTask({ ...task, id: 'mismatch', params: { address: 1 } })),
    key: await refusal(stranger.next(uid)),
    down: await refusal(new Client({ servers: 'http://127.0.0.1:1', retrySeconds: 0 }).next(uid)),
  });
}

await run({ consume, produce, calls, pull, taskCalls });
