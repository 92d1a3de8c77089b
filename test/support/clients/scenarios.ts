import { expect, inject, onTestFinished, test } from 'vitest';
import { type DocketChild, startChild } from '../child.ts';
import { type Client, eventually, type Json } from '../client.ts';
import { createKey } from '../keys.ts';
import type { TestSystem } from '../system.ts';
import type { Kit } from './kits.ts';
import { testPuller } from './pulling.ts';
import { allEnded, ended, type Program, runProgram } from './running.ts';
import { failing, forgetful, unavailable } from './stand-ins.ts';

/** What each client has to do, whatever its language. */
export function testClient(system: TestSystem, kit: Kit): void {
  testWork(system, kit);
  testStop(system, kit);
  testHandlers(system, kit);
  testServers(system, kit);
  testPuller(system, kit);
}

const stats = async (api: Client, topic: string): Promise<Json> => (await api.get(`/v1/topics/${topic}/stats`)).body;
const add = async (api: Client, job: object) =>
  expect((await api.post('/v1/jobs', { command: 'add', ...job })).body).toMatchObject({ success: true });
const stateOf = async (api: Client, id: string): Promise<string> => (await api.get(`/v1/jobs/${id}`)).body.state;
const ids = (programs: Program[], field: string): string[] =>
  programs.flatMap((p) => p.lines(field).map((line) => line[field])).sort();

async function produce(kit: Kit, asked: { count: number; servers: string[]; [more: string]: unknown }): Promise<void> {
  const producer = runProgram(kit, 'produce', asked);
  expect(await producer.exited, producer.output()).toBe(0);
  expect(producer.lines('added')).toEqual([{ added: asked.count }]);
}

function testWork({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S3.5 what a producer asks is answered, and what is refused has a type', async () => {
    const [topic, id] = ['calls/中文', 'calls/2024#1?a=b&c+d%2F 😀'];
    const job = { topic, id, body: { a: [1, 'ä', null] } };
    const program = runProgram(kit, 'calls', { servers, job });
    expect(await program.exited, program.output()).toBe(0);
    expect(JSON.parse(program.output())).toEqual({
      added: [true, false],
      peeked: {
        id,
        value: job.body,
        topic,
        state: 'ready',
      },
      next: id,
      got: id,
      unknown: null,
      conflict: 'Refused',
      invalid: 'Refused',
      deleted: [null, null, 'Refused'],
      mixed: [true, false],
      key: 'Auth',
      down: 'Unavailable',
      missing: 'Http',
    });
  });

  test('S3.5 a consumer with a key that may not pop ends with that', async () => {
    const { key } = await createKey(running.runtime.db, { name: 'reviewer', role: 'reviewer', subject: 'anna' });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'forbidden', concurrency: 2, apiKey: key });
    expect(await consumer.exited, consumer.output()).toBe(3);
    expect(consumer.lines('fatal')).toMatchObject([{ fatal: 'Auth' }]);
  });

  test('S3.5 two consumers finish 300 jobs, each once', async () => {
    await produce(kit, { servers, topic: 'many', prefix: 'many-', count: 300, value: {} });
    const consumers = [1, 2].map(() =>
      runProgram(kit, 'consume', { servers, topics: ['many', 'none'], concurrency: 4 }),
    );
    await eventually(async () => (await stats(api, 'many')).finished === 300, 40_000);
    await allEnded(consumers);
    const all = Array.from({ length: 300 }, (_, n) => `many-${n}`).sort();
    expect(ids(consumers, 'began')).toEqual(all);
    expect(ids(consumers, 'ended')).toEqual(all);
    for (const consumer of consumers) expect(consumer.lines('ended').length).toBeGreaterThan(0);
  }, 90_000);
}

function testStop({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S3.5 told to stop, it lets running handlers end and leaves the rest to others', async () => {
    await produce(kit, { servers, topic: 'stop', prefix: 'stop-', count: 12, value: { seconds: 0.5 } });
    const first = runProgram(kit, 'consume', { servers, topics: 'stop', concurrency: 2 });
    await eventually(async () => first.lines('began').length >= 3);
    await ended(first);
    expect(ids([first], 'ended')).toEqual(ids([first], 'began'));
    const left = await stats(api, 'stop');
    expect(left).toMatchObject({ reserved: 0, delayed: 0, finished: first.lines('ended').length });
    expect(left.ready).toBe(12 - left.finished);
    expect(left.ready).toBeGreaterThan(0);

    const second = runProgram(kit, 'consume', { servers, topics: 'stop', concurrency: 4 });
    await eventually(async () => (await stats(api, 'stop')).finished === 12);
    await ended(second);
    expect(new Set(ids([first, second], 'ended')).size).toBe(12);
    expect((await stats(api, 'stop')).timeouts).toBe(0);
  });
}

function testHandlers({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S3.5 a handler that takes longer than the TTR keeps its job', async () => {
    await add(api, { topic: 'long', id: 'long', TTR: 1, body: { seconds: 3.5 } });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'long', concurrency: 2 });
    await eventually(async () => (await stateOf(api, 'long')) === 'finished');
    await ended(consumer);
    expect(consumer.lines('began')).toMatchObject([{ began: 'long', attempt: 1 }]);
    expect((await stats(api, 'long')).timeouts).toBe(0);
  });

  test('S3.5 while its job cannot be touched, it is tried three times in the shortest TTR, and no faster', async () => {
    await add(api, { topic: 'untouched', id: 'untouched', TTR: 60, body: { seconds: 3 } });
    const touches = ({ body }: { body: string }) => body.includes('"touch"');
    const server = await failing(api.url, touches);
    const consumer = runProgram(kit, 'consume', { servers: [server.url], topics: 'untouched' });
    await eventually(async () => (await stateOf(api, 'untouched')) === 'finished');
    await ended(consumer);
    expect(server.calls.filter(touches).length).toBeGreaterThan(3);
    expect(server.calls.filter(touches).length).toBeLessThan(11);
  });

  test('S3.5 a handler hears that its job is gone', async () => {
    await add(api, { topic: 'gone', id: 'gone', TTR: 1, body: { untilLost: true } });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'gone' });
    await eventually(async () => consumer.lines('began').length === 1);
    await api.post('/v1/jobs', { command: 'delete', id: 'gone' });
    await eventually(async () => consumer.lines('lost').length === 1);
    await ended(consumer);
    expect(consumer.lines('error')).toMatchObject([{ error: expect.stringContaining('LeaseLost'), job: 'gone' }]);
    expect(await stateOf(api, 'gone')).toBe('deleted');
  });

  test('S3.5 a handler that fails gives its job back, later each time, or when and how it says', async () => {
    await add(api, { topic: 'fail', id: 'twice', body: { fail: 'error', failures: 2 } });
    await add(api, { topic: 'fail', id: 'said', body: { fail: 'release', failures: 1, delay: 1.5 } });
    await add(api, { topic: 'fail', id: 'buried', body: { fail: 'bury', failures: 9 } });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'fail', concurrency: 3 });
    await eventually(async () => (await stats(api, 'fail')).finished === 2);
    await ended(consumer);
    const times = (id: string) => consumer.lines('began').flatMap((line) => (line.began === id ? [line.at] : []));
    const [first, second, third, fourth] = times('twice');
    expect(second - first).toBeGreaterThanOrEqual(1);
    expect(third - second).toBeGreaterThanOrEqual(2);
    expect(fourth).toBeUndefined();
    const [one, two] = times('said');
    expect(two - one).toBeGreaterThanOrEqual(1.5);
    expect(times('buried')).toHaveLength(1);
    expect(await stateOf(api, 'buried')).toBe('buried');
    expect((await stats(api, 'fail')).timeouts).toBe(0);
  });
}

function testServers(system: TestSystem, kit: Kit): void {
  const { api } = system;

  test('S3.4 it goes on with the next server when one answers 503 or none', async () => {
    const servers = ['http://127.0.0.1:1', await unavailable(), api.url];
    await produce(kit, { servers, topic: 'away', prefix: 'away-', count: 5, value: {} });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'away' });
    await eventually(async () => (await stats(api, 'away')).finished === 5);
    await ended(consumer);
  });

  test('S3.5 what was done but not answered is sent again, and done once', async () => {
    const servers = [(await forgetful(api.url, (call) => JSON.parse(call.body).command !== 'pop')).url];
    await produce(kit, { servers, topic: 'again', prefix: 'again-', count: 5, value: {} });
    await add(api, { topic: 'again', id: 'again-back', body: { fail: 'release', failures: 1, delay: 0 } });
    const consumer = runProgram(kit, 'consume', { servers, topics: 'again' });
    await eventually(async () => (await stats(api, 'again')).finished === 6);
    await ended(consumer);
    expect(ids([consumer], 'began')).toHaveLength(7);
    expect(consumer.lines('error')).toMatchObject([{ job: 'again-back' }]);
  });

  test.each([false, true])(
    'S3.4 S3.7 a server is killed: the others finish everything (they find it themselves: %s)',
    async (discover) => {
      const env = {
        DATABASE_URL: system.databaseUrl,
        TEMPORAL_ADDRESS: inject('temporal'),
        TEMPORAL_NAMESPACE: system.namespace,
      };
      const start = (): Promise<DocketChild> => startChild('api', { ...env, DOCKET_POOL: '6', LOG_LEVEL: 'error' });
      const [dying, living] = await Promise.all([start(), start()]);
      onTestFinished(() => void living.process.kill('SIGKILL'));
      const servers = discover ? [dying.api.url] : [dying.api.url, living.api.url];
      const topic = `killed-${discover}`;
      const jobs = { servers, discover, topic, TTR: 3, value: { seconds: 0.05 } };
      await produce(kit, { ...jobs, prefix: `${topic}-a`, count: 100 });
      const consumers = [1, 2].map(() =>
        runProgram(kit, 'consume', { servers, discover, topics: topic, concurrency: 2 }),
      );
      await eventually(async () => (await stats(api, topic)).finished >= 30);
      await dying.end('SIGKILL');
      const later = { ...jobs, prefix: `${topic}-b`, count: 50 };
      await produce(kit, { ...later, servers: [dying.api.url, living.api.url] });
      await eventually(async () => (await stats(api, topic)).finished === 150, 30_000);
      await allEnded(consumers);
      expect(new Set(ids(consumers, 'ended')).size).toBe(150);
    },
    120_000,
  );
}
