import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

const TOPICS = ['mail', 'sync'] as const;
const CONSUMERS = 14;
const TTR = 3;

/** Jobs over HTTP: added with delays, popped, finished, released, buried and kicked, left to their TTR (S3). */
export async function jobs(w: Workload): Promise<void> {
  w.produce(8, () => add(w));
  w.produce(0.4, () => remove(w));
  for (let n = 0; n < CONSUMERS; n++) w.repeat(() => consume(w, `consumer-${n}`));
  // what is buried by a call whose answer was lost; before, it would kick delayed jobs
  w.repeat(async () => {
    await sleep(2_000);
    if (!w.draining) return false;
    for (const topic of TOPICS) await command(w, 'operator', 'kick', { topic, count: 100 });
    return false;
  });
}

/** A command, again while it is not known what became of it. */
const command = (w: Workload, actor: string, name: string, args: Json) =>
  w.insist(actor, `job.${name}`, args, 'POST /v1/jobs', { command: name, ...args });

async function add(w: Workload): Promise<void> {
  const id = w.name('j');
  const delay = w.chance(0.4) ? Math.round(w.roll() * 8_000) / 1000 : 0;
  await command(w, 'producer', 'add', {
    topic: w.pick(TOPICS),
    id,
    ...(w.keys && { key: id }),
    delay,
    TTR,
    body: { id },
  });
}

async function remove(w: Workload): Promise<void> {
  const id = w.recent('job.add', 60);
  if (id !== undefined) await command(w, 'operator', 'delete', { id });
}

async function consume(w: Workload, consumer: string): Promise<boolean> {
  const args = { topic: w.pick(TOPICS), wait: 1, ...(w.chance(0.3) && { count: 5 }) };
  // never sent again by itself: its answer may be lost together with what was popped
  const pop = await w.call(consumer, 'job.pop', args, 'POST /v1/jobs', { command: 'pop', ...args });
  if (pop.outcome !== 'ok') return false;
  const popped: Json[] = pop.answer.jobs ?? (pop.answer.id === null ? [] : [pop.answer]);
  for (const job of popped) await work(w, consumer, job);
  return popped.length > 0;
}

async function work(w: Workload, consumer: string, { id, token }: Json): Promise<void> {
  const send = (name: string, more: Json = {}) => command(w, consumer, name, { id, token, ...more });
  const path = w.draining ? 0 : w.roll();
  await sleep(w.roll() * 200);
  if (path < 0.7) await send('finish');
  else if (path < 0.78) await send('release', { delay: 1 });
  else if (path < 0.83) {
    await send('bury');
    await command(w, 'operator', 'kick', { id });
  } else if (path < 0.9) {
    await send('touch');
    await send('finish');
  } else {
    await sleep(TTR * 1000 * (0.8 + w.roll()));
    if (path < 0.97) await send('finish');
  }
}
