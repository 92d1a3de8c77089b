import { expect, test } from 'vitest';
import { type Client, eventually, type Json, numbered } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import type { TestSystem } from '../../support/system.ts';
import {
  allEnded,
  began,
  connect,
  ended,
  endedWith,
  NO_SERVER,
  named,
  type Program,
  refusal,
  run,
  timesOf,
} from '../driver.ts';
import type { Kit } from '../kits.ts';
import { failing, forgetful, startOwnApi, unavailable } from '../stand-ins.ts';

/** What each client does with jobs, whatever its language. */
export function testJobs(system: TestSystem, kit: Kit): void {
  testWork(system, kit);
  testHandlers(system, kit);
  testFailures(system, kit);
  testServers(system, kit);
}

const stats = async (api: Client, topic: string): Promise<Json> => (await api.get(`/v1/topics/${topic}/stats`)).body;
const allFinished = (api: Client, topic: string, count: number, ms?: number) =>
  eventually(async () => (await stats(api, topic)).finished === count, ms);
const add = async (api: Client, job: object) =>
  expect((await api.post('/v1/jobs', { command: 'add', ...job })).body).toMatchObject({ success: true });
const stateOf = async (api: Client, id: string): Promise<string> => (await api.get(`/v1/jobs/${id}`)).body.state;
const endedIds = (...programs: Program[]): string[] =>
  programs.flatMap((program) => program.lines('ended').map((line) => line.ended));

/** Adds so many jobs with the client. */
async function produce(kit: Kit, client: Parameters<typeof connect>[1], count: number, job: Json): Promise<void> {
  const jobs = numbered(count, job.prefix ?? `${job.topic}-`).map((id) => ({
    topic: job.topic,
    id,
    body: job.body,
    TTR: job.TTR,
  }));
  const results: Json[] = await connect(kit, client)('addMany', jobs);
  expect(results.filter(({ success }) => success)).toHaveLength(count);
}

function testWork({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S3.5 what a producer asks is answered, and what is refused has a type', async () => {
    const [topic, id, body] = ['calls/中文', 'calls/2024#1?a=b&c+d%2F 😀', { a: [1, 'ä', null] }];
    const call = connect(kit, { servers });
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
  });

  test('S3.5 a consumer with a key that may not pop ends with that', async () => {
    const { key } = await createKey(running.runtime.db, { name: 'reviewer', role: 'reviewer', subject: 'anna' });
    await endedWith(run(kit, 'Consumer', { servers, topics: 'forbidden', concurrency: 2, apiKey: key }), 'Auth');
  });

  test('S3.5 two consumers finish 300 jobs, each once', async () => {
    await produce(kit, { servers }, 300, { topic: 'many', body: {} });
    const consumers = [1, 2].map(() => run(kit, 'Consumer', { servers, topics: ['many', 'none'], concurrency: 4 }));
    await allFinished(api, 'many', 300, 40_000);
    await allEnded(consumers);
    const all = numbered(300, 'many-').sort();
    expect(began(...consumers).sort()).toEqual(all);
    expect(endedIds(...consumers).sort()).toEqual(all);
    for (const consumer of consumers) expect(consumer.lines('ended').length).toBeGreaterThan(0);
  }, 90_000);

  test('S3.5 told to stop, it lets running handlers end and leaves the rest to others', async () => {
    await produce(kit, { servers }, 12, { topic: 'stop', body: { seconds: 0.5 } });
    const first = run(kit, 'Consumer', { servers, topics: 'stop', concurrency: 2 });
    await eventually(async () => first.lines('began').length >= 3);
    await ended(first);
    expect(endedIds(first).sort()).toEqual(began(first).sort());
    const left = await stats(api, 'stop');
    expect(left).toMatchObject({ reserved: 0, delayed: 0, finished: first.lines('ended').length });
    expect(left.ready).toBe(12 - left.finished);
    expect(left.ready).toBeGreaterThan(0);

    const second = run(kit, 'Consumer', { servers, topics: 'stop', concurrency: 4 });
    await allFinished(api, 'stop', 12);
    await ended(second);
    expect(new Set(endedIds(first, second)).size).toBe(12);
    expect((await stats(api, 'stop')).timeouts).toBe(0);
  });
}

function testHandlers({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S3.5 a handler that takes longer than the TTR keeps its job', async () => {
    await add(api, { topic: 'long', id: 'long', TTR: 1, body: { seconds: 3.5 } });
    const consumer = run(kit, 'Consumer', { servers, topics: 'long', concurrency: 2 });
    await eventually(async () => (await stateOf(api, 'long')) === 'finished');
    await ended(consumer);
    expect(consumer.lines('began')).toMatchObject([{ began: 'long', attempt: 1 }]);
    expect((await stats(api, 'long')).timeouts).toBe(0);
  });

  test('S3.5 while its job cannot be touched, it is tried three times in the shortest TTR, and no faster', async () => {
    await add(api, { topic: 'untouched', id: 'untouched', TTR: 60, body: { seconds: 3 } });
    const touches = ({ body }: { body: string }) => body.includes('"touch"');
    const server = await failing(api.url, touches);
    const consumer = run(kit, 'Consumer', { servers: [server.url], topics: 'untouched' });
    await eventually(async () => (await stateOf(api, 'untouched')) === 'finished');
    await ended(consumer);
    expect(server.calls.filter(touches).length).toBeGreaterThan(3);
    expect(server.calls.filter(touches).length).toBeLessThan(11);
  });

  test('S3.5 a handler hears that its job is gone', async () => {
    await add(api, { topic: 'gone', id: 'gone', TTR: 1, body: { untilLost: true } });
    const consumer = run(kit, 'Consumer', { servers, topics: 'gone' });
    await eventually(async () => consumer.lines('began').length === 1);
    await api.post('/v1/jobs', { command: 'delete', id: 'gone' });
    await eventually(async () => consumer.lines('lost').length === 1);
    await ended(consumer);
    expect(consumer.lines('error')).toMatchObject([{ error: expect.stringContaining('LeaseLost'), item: 'gone' }]);
    expect(await stateOf(api, 'gone')).toBe('deleted');
  });
}

function testFailures({ api }: TestSystem, kit: Kit): void {
  test('S3.5 a handler that fails gives its job back, later each time, or when and how it says', async () => {
    await add(api, { topic: 'fail', id: 'twice', body: { fail: 'error', failures: 2 } });
    await add(api, { topic: 'fail', id: 'said', body: { fail: 'release', failures: 1, delay: 1.5 } });
    await add(api, { topic: 'fail', id: 'buried', body: { fail: 'bury', failures: 9 } });
    const consumer = run(kit, 'Consumer', { servers: [api.url], topics: 'fail', concurrency: 3 });
    await allFinished(api, 'fail', 2);
    await ended(consumer);
    const [first = 0, second = 0, third, fourth] = timesOf(consumer, 'twice');
    expect(second - first).toBeGreaterThanOrEqual(1);
    expect((third ?? 0) - second).toBeGreaterThanOrEqual(2);
    expect(fourth).toBeUndefined();
    const [one = 0, two = 0] = timesOf(consumer, 'said');
    expect(two - one).toBeGreaterThanOrEqual(1.5);
    expect(timesOf(consumer, 'buried')).toHaveLength(1);
    expect(await stateOf(api, 'buried')).toBe('buried');
    expect((await stats(api, 'fail')).timeouts).toBe(0);
  });
}

function testServers(system: TestSystem, kit: Kit): void {
  const { api } = system;

  test('S3.4 it goes on with the next server when one answers 503 or none', async () => {
    const servers = ['http://127.0.0.1:1', await unavailable(), api.url];
    await produce(kit, { servers }, 5, { topic: 'away', body: {} });
    const consumer = run(kit, 'Consumer', { servers, topics: 'away' });
    await allFinished(api, 'away', 5);
    await ended(consumer);
  });

  test('S3.5 what was done but not answered is sent again, and done once', async () => {
    const servers = [(await forgetful(api.url, (call) => JSON.parse(call.body).command !== 'pop')).url];
    await produce(kit, { servers }, 5, { topic: 'again', body: {} });
    await add(api, { topic: 'again', id: 'again-back', body: { fail: 'release', failures: 1, delay: 0 } });
    const consumer = run(kit, 'Consumer', { servers, topics: 'again' });
    await allFinished(api, 'again', 6);
    await ended(consumer);
    expect(began(consumer)).toHaveLength(7);
    expect(consumer.lines('error')).toMatchObject([{ item: 'again-back' }]);
  });

  test.each([false, true])(
    'S3.4 S3.7 a server is killed: the others finish everything (they find it themselves: %s)',
    async (discover) => {
      const [dying, living] = await Promise.all([startOwnApi(system), startOwnApi(system)]);
      const both = [dying.api.url, living.api.url];
      const client = { servers: discover ? [dying.api.url] : both, discover };
      const topic = `killed-${discover}`;
      const job = { topic, TTR: 3, body: { seconds: 0.05 } };
      await produce(kit, client, 60, { ...job, prefix: `${topic}-a` });
      const consumers = [1, 2].map(() => run(kit, 'Consumer', { ...client, topics: topic, concurrency: 2 }));
      await eventually(async () => (await stats(api, topic)).finished >= 20);
      await dying.end('SIGKILL');
      await produce(kit, { ...client, servers: both }, 20, { ...job, prefix: `${topic}-b` });
      await allFinished(api, topic, 80, 30_000);
      await allEnded(consumers);
      expect(new Set(endedIds(...consumers)).size).toBe(80);
    },
    120_000,
  );
}
