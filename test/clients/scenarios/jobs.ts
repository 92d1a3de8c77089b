import { expect } from 'vitest';
import type { DocketChild } from '../../support/child.ts';
import { eventually, type Json, numbered } from '../../support/client.ts';
import { job, stats } from '../../support/jobs.ts';
import { createKey } from '../../support/keys.ts';
import {
  allEnded,
  began,
  type Connected,
  ended,
  endedIds,
  endedWith,
  expectBegun,
  NO_SERVER,
  named,
  refusal,
} from '../driver.ts';
import { away, failing, forgetful, startOwnApi } from '../stand-ins.ts';
import { scenariosOf, type Work } from './kinds.ts';

/** Adds so many jobs with the client. @returns their ids */
async function produce(call: Connected, count: number, job: Json, prefix = `${job.topic}-`): Promise<string[]> {
  const ids = numbered(count, prefix);
  const results: Json[] = await call(
    'addMany',
    ids.map((id) => ({ ...job, id })),
  );
  expect(results.filter(({ success }) => success)).toHaveLength(count);
  return ids;
}

/** Two consumers on a server that dies. @param discover whether clients find the other server themselves */
async function consume({ api, connect, start, done }: Work, dying: DocketChild, discover: boolean) {
  const servers = [dying.api.url, api.url];
  const client = { servers: discover ? servers.slice(0, 1) : servers, discover };
  const topic = `killed-${discover}`;
  const job = { topic, TTR: 3, body: { seconds: 0.05 } };
  const ids = await produce(connect(client), 60, job);
  const consumers = [1, 2].map(() => start(topic, { ...client, concurrency: 2 }));
  await eventually(async () => (await stats(api, topic)).finished >= 20);
  return async () => {
    ids.push(...(await produce(connect({ ...client, servers }), 20, job, `${topic}-later-`)));
    await done(ids);
    await allEnded(consumers);
    expect(new Set(endedIds(...consumers))).toEqual(new Set(ids));
  };
}

/** What each client does with jobs alone. */
export const jobs = scenariosOf('job', {
  'S3.5 what a producer asks is answered, and what is refused has a type': async ({ connect }) => {
    const [topic, id, body] = ['calls/中文', 'calls/2024#1?a=b&c+d%2F 😀', { a: [1, 'ä', null] }];
    const call = connect();
    expect([await call('add', topic, id, body), await call('add', topic, id, body)]).toEqual([true, false]);
    expect(await call('peek', named({ id }))).toEqual({ id, value: body, topic, state: 'ready' });
    expect((await call('peek', named({ topic }))).id).toBe(id);
    expect((await call('get', id)).id).toBe(id);
    expect(await call('peek', named({ id: 'nobody' }))).toBeNull();
    expect(await refusal(call('add', topic, id, 'other'))).toMatch(/^Refused/);
    expect(await refusal(call('add', '..', id, body))).toMatch(/^Refused/);
    for (let n = 0; n < 2; n++) await call('delete', id);
    expect(await refusal(call('delete', 'nobody'))).toMatch(/^Refused/);
    const mixed: Json[] = await call('addMany', [
      { topic, id: 'fine', body },
      { topic: '..', id: 'bad', body },
    ]);
    expect(mixed.map(({ success }) => success)).toEqual([true, false]);
    expect(await refusal(call.with({ apiKey: 'wrong' })('peek', named({ id })))).toMatch(/^Auth/);
    expect(await refusal(call.with(NO_SERVER)('peek', named({ id })))).toBe('Unavailable');
    expect(await refusal(call('get', 'nobody'))).toMatch(/^Http/);
  },

  'S3.5 a consumer with a key that may not pop ends with that': async ({ running, start }) => {
    const { key } = await createKey(running.runtime.db, { name: 'reviewer', role: 'reviewer', subject: 'anna' });
    await endedWith(start('forbidden', { concurrency: 2, apiKey: key }), 'Auth');
  },

  'S3.7 a key that is bound to queues may not ask for other servers, and its calls do not fail': async (scene) => {
    const { db } = scene.running.runtime;
    const { key } = await createKey(db, { name: 'bound', role: 'producer', subject: null, queues: ['bound'] });
    const call = scene.connect({ apiKey: key, discover: true });
    expect(await call('add', 'bound', 'bound-1', 1)).toBe(true);
  },

  'S3.5 two consumers finish 300 jobs, each once': async ({ api, connect, start }) => {
    const ids = await produce(connect(), 300, { topic: 'many', body: {} });
    const consumers = [1, 2].map(() => start('many', { topics: ['many', 'none'], concurrency: 4 }));
    await eventually(async () => (await stats(api, 'many')).finished === 300, 60_000);
    await allEnded(consumers);
    for (const of of [began(...consumers), endedIds(...consumers)]) expect(of.sort()).toEqual(ids.toSorted());
    for (const consumer of consumers) expect(endedIds(consumer).length).toBeGreaterThan(0);
  },

  'S3.5 told to stop, it lets running handlers end and leaves the rest to others': async (scene) => {
    const { api, connect, start, work } = scene;
    const ids = await produce(connect(), 12, { topic: 'stop', body: { seconds: 0.5 } });
    const first = start('stop', { concurrency: 2 });
    await eventually(async () => first.lines('began').length >= 3);
    await ended(first);
    expect(endedIds(first).sort()).toEqual(began(first).sort());
    const left = await stats(api, 'stop');
    expect(left).toMatchObject({ reserved: 0, delayed: 0, finished: first.lines('ended').length });
    expect(left.ready).toBe(12 - left.finished);
    expect(left.ready).toBeGreaterThan(0);
    const second = await work('stop', ids, { concurrency: 4 });
    expect(new Set(endedIds(first, second)).size).toBe(12);
    expect((await stats(api, 'stop')).timeouts).toBe(0);
  },

  'S3.5 while its job cannot be touched, it is tried three times in the shortest TTR, and no faster': async (scene) => {
    const { api, prepare, work } = scene;
    const ids = await prepare('untouched', [{ seconds: 3 }], { leaseSeconds: 60 });
    const touches = ({ body }: { body: string }) => body.includes('"touch"');
    const server = await failing(api.url, touches);
    await work('untouched', ids, { servers: [server.url] });
    expect(server.calls.filter(touches).length).toBeGreaterThan(3);
    expect(server.calls.filter(touches).length).toBeLessThan(11);
  },

  'S3.5 a handler that fails gives its job back, later each time, or when and how it says': async (scene) => {
    const { api, prepare, work, history } = scene;
    const [twice = '', said = '', buried = ''] = await prepare('fails', [
      { fail: 'error', failures: 2 },
      { fail: 'release', failures: 1, delay: 1.5 },
      { fail: 'bury', failures: 9 },
    ]);
    const loop = await work('fails', [twice, said], { concurrency: 3 });
    expectBegun(loop, twice, [1, 2]);
    expectBegun(loop, said, [1.5]);
    expectBegun(loop, buried);
    expect((await history(buried)).at(-1)).toBe('buried');
    expect((await stats(api, 'fails')).timeouts).toBe(0);
  },

  'S3.5 what a handler that fails says is why its job was given back or buried, as much as fits': async (scene) => {
    const said = { fail: 'bury', failures: 9 };
    const bodies = [{ fail: 'error', failures: 9 }, said, { ...said, text: 'é'.repeat(2_500) }];
    const ids = await scene.prepare('reasons', bodies);
    const loop = scene.start('reasons', { backoffSeconds: 600 });
    const reasons = () => Promise.all(ids.map(async (id) => (await scene.api.jobs.oneJob(id)).lastReason));
    await eventually(async () => (await stats(scene.api, 'reasons')).buried === 2);
    await ended(loop);
    expect(await reasons()).toEqual([expect.stringMatching(/as asked$/), 'as asked', 'é'.repeat(2_000)]);
  },

  'S3.4 it goes on with the next server when one answers 503 or none': async ({ api, connect, work }) => {
    const servers = [...(await away()), api.url];
    const ids = await produce(connect({ servers }), 5, { topic: 'away', body: {} });
    await work('away', ids, { servers });
  },

  'S3.5 what was done but not answered is sent again, and done once': async ({ api, connect, prepare, work }) => {
    const servers = [(await forgetful(api.url, (call) => JSON.parse(call.body).command !== 'pop')).url];
    const ids = await produce(connect({ servers }), 5, { topic: 'again', body: {} }, 'again-first-');
    const [back = ''] = await prepare('again', [{ fail: 'release', failures: 1, delay: 0 }]);
    const consumer = await work('again', [...ids, back], { servers });
    expect(began(consumer)).toHaveLength(7);
    expect(consumer.lines('error')).toMatchObject([{ item: back }]);
  },

  'S3.1 S3.2 an add that is sent again is one run, also where that is over meanwhile; the next add is the next run':
    async ({ api, connect }) => {
      const topic = 'once-more';
      const finishOne = async () => {
        const { id, token } = await job(api, 'pop', { topic });
        await job(api, 'finish', { id, token });
        return true;
      };
      const { url, calls } = await forgetful(api.url, finishOne);
      const call = connect({ servers: [url] });
      // the answer that came is that of the repeat
      expect(await call('add', topic, 'one', 1)).toBe(false);
      expect(await call('addMany', [{ topic, id: 'two', body: 2 }])).toMatchObject([{ success: true }]);
      expect(calls).toHaveLength(4);
      expect(await stats(api, topic)).toMatchObject({ finished: 2, ready: 0 });
      expect(await connect()('add', topic, 'one', 1)).toBe(true);
      expect(await stats(api, topic)).toMatchObject({ finished: 1, ready: 1 });
    },

  'S3.4 S3.7 a server is killed: the others finish everything, whether clients are told of them or find them': async (
    scene,
  ) => {
    const dying = await startOwnApi(scene);
    const rests = await Promise.all([false, true].map((discover) => consume(scene, dying, discover)));
    await dying.end('SIGKILL');
    await Promise.all(rests.map((rest) => rest()));
  },
});
