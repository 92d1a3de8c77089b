// Does with the TypeScript client what a test says: program.mjs consume|produce|calls JSON
import { setTimeout as sleep } from 'node:timers/promises';
import { Bury, Client, Consumer, Release } from '@docket/client';

const [, , what, text = '{}'] = process.argv;
const asked = JSON.parse(text);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const { servers, apiKey, discover, retrySeconds } = asked;
const client = new Client({ servers, apiKey, discover, retrySeconds });

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

const named = (promise) =>
  promise.then(
    () => null,
    (error) => error.name.replace(/Error$/, ''),
  );

async function calls() {
  const [first, second] = [await client.add(asked.job), await client.add(asked.job)];
  const { id, topic } = asked.job;
  say({
    added: [!first.already, !second.already],
    peeked: await client.peek({ id }),
    next: (await client.peek({ topic }))?.id,
    unknown: await client.peek({ id: 'nobody' }),
    conflict: await named(client.add({ ...asked.job, body: 'other' })),
    invalid: await named(client.add({ ...asked.job, topic: '-' })),
    deleted: [await named(client.delete(id)), await named(client.delete(id)), await named(client.delete('nobody'))],
    mixed: (
      await client.addMany([
        { ...asked.job, id: 'fine' },
        { ...asked.job, topic: '-', id: 'bad' },
      ])
    ).map((r) => r.success),
    key: await named(new Client({ servers, apiKey: 'wrong' }).peek({ id })),
    down: await named(new Client({ servers: 'http://127.0.0.1:1', retrySeconds: 0 }).peek({ id })),
    missing: await named(client.get('nobody')),
  });
}

try {
  await { consume, produce, calls }[what]();
} catch (error) {
  say({ fatal: error.name.replace(/Error$/, ''), text: error.message });
  process.exitCode = 3;
}
