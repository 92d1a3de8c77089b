import { beforeAll, expect, test } from 'vitest';
import { type Client, eventually, type Json, numbered } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import type { TestSystem } from '../../support/system.ts';
import { addTask, addTemplate, dispatchLog, handed, inMs } from '../../support/tasks.ts';
import { began, connect, ended, endedWith, failure, NO_SERVER, named, refusal, run } from '../driver.ts';
import type { Kit } from '../kits.ts';
import { type Call, failing, forgetful, startOwnApi, unavailable, unwilling } from '../stand-ins.ts';

/** What each client's pull loop has to do, whatever its language. */
export function testPuller(system: TestSystem, kit: Kit): void {
  beforeAll(async () => {
    const [number, text] = ['number', 'string'].map((type) => ({ type, required: false }));
    await addTemplate(system.api, 'work', { seconds: number, failures: number, fail: text });
  });
  testPulling(system, kit);
  testFailures(system, kit);
  testStops(system, kit);
  testLostAnswers(system, kit);
  testServerList(system, kit);
}

export const addWork = (api: Client, uid: string, id: string, params: object = {}, more: object = {}): Promise<Json> =>
  addTask(api, { id, executor: `uid_${uid}`, templateId: 'work', params, ...more });
/** Types of the lines about a user, or about one of their tasks, in order. */
const history = async (api: Client, uid: string, taskId?: string): Promise<string[]> =>
  (await dispatchLog(api, `uid=${uid}${taskId ? `&taskId=${taskId}` : ''}`)).map((line) => line.type);
const completions = async (api: Client, uid: string): Promise<Json[]> =>
  (await dispatchLog(api, `uid=${uid}`)).filter((line) => line.type === 'completed');
const allDone = (api: Client, uid: string, count: number, ms?: number) =>
  eventually(async () => (await completions(api, uid)).length === count, ms);
const DONE_ONCE = ['dispatched', 'completed'];

function testPulling({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S4.1 S4.5 S4.7 what a user of tasks asks is answered, and what is refused has a type', async () => {
    const task = {
      ...{ id: 'ask-1', type: 'once', executor: 'gid_ask', startTime: inMs(-9000), templateId: 'ask' },
      params: { address: 'ä/ö' },
    };
    const later = { ...task, id: 'ask-2', startTime: inMs(-1000) };
    const call = connect(kit, { servers });
    for (let n = 0; n < 2; n++) await call('addTemplate', 'ask', { address: { type: 'string' } });
    await call('putGroup', 'ask', ['asker']);
    for (const one of [task, task, later]) expect((await call('addTask', one.id, one)).id).toBe(one.id);
    const first = (await call('next', 'asker')).dispatch;
    expect(first).toMatchObject({ taskId: 'ask-1', params: task.params, redo: false });
    const { logId, occurrence } = first;
    expect((await call('next', 'asker')).dispatch).toMatchObject({ logId, occurrence, redo: true });
    const stale = await failure(call('complete', 'asker', 'lt_other'));
    expect(stale).toMatchObject({ error: 'StaleLogId', current: logId });
    const done = { done: [1, 'ä', null] };
    const completedAt = await call('complete', 'asker', logId, done);
    const { dispatch, nextAt, reasons } = await call('next', 'asker', named({ exclude: ['ask-2'], wait: 0.2 }));
    expect([dispatch, nextAt]).toEqual([null, null]);
    expect(reasons).toEqual({ excluded: 1, done: 0, taken: 0, notYet: 0, passed: 0 });
    expect(await call('complete', 'asker', logId, done)).toBe(completedAt);
    expect(await refusal(call('complete', 'asker', logId, 'other'))).toBe('Http lease_lost');
    expect(await refusal(call('addTask', 'ask-1', { ...task, dispatchTimes: 9 }))).toBe('Http id_conflict');
    const mismatch = { ...task, id: 'mismatch', params: { address: 1 } };
    expect(await refusal(call('addTask', 'mismatch', mismatch))).toBe('Http template_mismatch');
    expect(await refusal(call.with({ apiKey: 'wrong' })('next', 'asker'))).toBe('Auth unauthenticated');
    expect(await refusal(call.with(NO_SERVER)('next', 'asker'))).toBe('Unavailable');
    expect((await completions(api, 'asker')).map((line) => line.result)).toEqual([done]);
  });

  test('S4.5 a puller with a key that is not of its user ends with that', async () => {
    const { key } = await createKey(running.runtime.db, { name: 'other', role: 'reviewer', subject: 'somebody' });
    await endedWith(run(kit, 'Puller', { servers, uid: 'forbidden', apiKey: key }), 'Auth');
  });

  test('S4.6 it does what is due and then what comes, in order, but for what it excludes', async () => {
    await addWork(api, 'orla', 'orla-2', {}, { startTime: inMs(-5000) });
    await addWork(api, 'orla', 'orla-1', {}, { startTime: inMs(-9000) });
    await addWork(api, 'orla', 'orla-x', {}, { startTime: inMs(-7000) });
    const puller = run(kit, 'Puller', { servers, uid: 'orla', exclude: ['orla-x'], wait: 5 });
    await allDone(api, 'orla', 2);
    await addWork(api, 'orla', 'orla-3', {}, { startTime: inMs(500) });
    await allDone(api, 'orla', 3);
    await ended(puller);
    expect(began(puller)).toEqual(['orla-1', 'orla-2', 'orla-3']);
    expect((await completions(api, 'orla'))[0]?.result).toEqual({ of: 'orla-1', empty: {} });
    expect(puller.lines('error')).toEqual([]);
  });
}

function testFailures({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S4.5 a handler that fails gets the same log id again, later each time, before anything else', async () => {
    await addWork(api, 'fay', 'fails', { fail: 'error', failures: 2 }, { startTime: inMs(-5000) });
    await addWork(api, 'fay', 'follows');
    const puller = run(kit, 'Puller', { servers, uid: 'fay', stuckAfter: 2 });
    await allDone(api, 'fay', 2);
    await ended(puller);
    const began = puller.lines('began');
    const [first, second, third] = began;
    expect(began.map((line) => [line.began, line.redo])).toEqual([
      ['fails', false],
      ['fails', true],
      ['fails', true],
      ['follows', false],
    ]);
    expect(new Set(began.map((line) => line.logId)).size).toBe(2);
    expect(second.at - first.at).toBeGreaterThanOrEqual(0.5);
    expect(third.at - second.at).toBeGreaterThanOrEqual(1);
    expect(puller.lines('error')).toMatchObject([
      { error: expect.not.stringContaining('Stuck'), text: expect.stringContaining('as asked'), item: 'fails' },
      { error: expect.stringContaining('Stuck'), text: expect.stringContaining('as asked'), item: 'fails' },
    ]);
    expect(await history(api, 'fay', 'fails')).toEqual(DONE_ONCE);
  });

  test.each(['unsayable', 'large'])(
    'S4.5 a result that cannot be sent (%s) is a failure like any other',
    async (fail) => {
      const uid = `res-${fail}`;
      await addWork(api, uid, fail, { fail, failures: 1 });
      const puller = run(kit, 'Puller', { servers, uid, retrySeconds: 2 });
      await allDone(api, uid, 1);
      await ended(puller);
      const [first, second, third] = puller.lines('began');
      expect(second).toMatchObject({ redo: true, logId: first.logId });
      expect(second.at - first.at).toBeGreaterThanOrEqual(0.5);
      expect(third).toBeUndefined();
      expect(puller.lines('error')).toMatchObject([{ item: fail }]);
    },
  );

  test('S4.7 a log id that is stale by then is reported, and the loop goes on', async () => {
    await addWork(api, 'stan', 'stale', { fail: 'slow', failures: 1, seconds: 3 }, { answerSeconds: 1 });
    const puller = run(kit, 'Puller', { servers, uid: 'stan', backoffSeconds: 60 });
    await allDone(api, 'stan', 1);
    await ended(puller);
    expect(puller.lines('error')).toMatchObject([{ error: expect.stringContaining('StaleLogId'), item: 'stale' }]);
    expect(await history(api, 'stan')).toEqual(['dispatched', 'returned', ...DONE_ONCE]);
    expect(new Set(puller.lines('began').map((line) => line.logId)).size).toBe(2);
  });
}

function testStops({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];
  /** Well below the waits that it must not wait for, and enough on a machine that is busy. */
  const AT_ONCE_MS = 8_000;
  const inTime = async (puller: ReturnType<typeof run>) => {
    const began = performance.now();
    await ended(puller);
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  };

  test('S4.5 told to stop, it lets the running handler end, completes its task and begins nothing new', async () => {
    await addWork(api, 'gus', 'graceful', { seconds: 1.5 }, { startTime: inMs(-5000) });
    await addWork(api, 'gus', 'left');
    const puller = run(kit, 'Puller', { servers, uid: 'gus' });
    await eventually(async () => puller.lines('began').length === 1);
    await ended(puller);
    expect(puller.lines('ended')).toEqual([{ ended: 'graceful' }]);
    expect(puller.lines('began')).toHaveLength(1);
    expect(await history(api, 'gus')).toEqual(DONE_ONCE);
  });

  test('S4.3 told to stop while it waits, it ends at once, and gets nothing that comes later', async () => {
    const { waiters } = running.runtime;
    await eventually(async () => waiters.size === 0);
    // shorter than the 15 seconds that the time-out of the PHP client's HTTP client is
    const puller = run(kit, 'Puller', { servers, uid: 'wanda', wait: kit.extension === 'php' ? 14 : 60 });
    await eventually(async () => waiters.size > 0);
    await inTime(puller);
    await eventually(async () => waiters.size === 0, 4_000);
    expect(puller.lines('error')).toEqual([]);
    await addWork(api, 'wanda', 'after');
    expect(await history(api, 'wanda')).toEqual([]);
    expect(await handed(api, 'wanda')).toMatchObject({ redo: false, task: { id: 'after' } });
  });

  test('S4.5 told to stop before it asks again for what failed, it ends at once, and another gets it', async () => {
    await addWork(api, 'petra', 'paused', { fail: 'error', failures: 1 });
    const puller = run(kit, 'Puller', { servers, uid: 'petra', backoffSeconds: 60 });
    await eventually(async () => puller.lines('error').length === 1);
    await inTime(puller);
    const other = run(kit, 'Puller', { servers, uid: 'petra' });
    await allDone(api, 'petra', 1);
    await ended(other);
    expect(other.lines('began')).toMatchObject([{ redo: true, logId: puller.lines('began')[0]?.logId }]);
  });
}

function testLostAnswers({ api }: TestSystem, kit: Kit): void {
  test.each([
    ['the same server', false],
    ['the next server', true],
  ])('S4.7 a completion whose answer is lost is sent again, to %s, and done once', async (_, once) => {
    const uid = `lost-${once}`;
    await addWork(api, uid, uid);
    const isCompletion = ({ path }: Call) => path.endsWith('/complete');
    const first = await forgetful(api.url, isCompletion, once);
    const second = await forgetful(api.url, () => false);
    const puller = run(kit, 'Puller', { servers: [first.url, second.url].slice(0, once ? 2 : 1), uid });
    const sent = () => [first, second].map((server) => server.calls.filter(isCompletion).length);
    await eventually(async () => sent().join() === (once ? '1,1' : '2,0'));
    await ended(puller);
    expect(sent()).toEqual(once ? [1, 1] : [2, 0]);
    expect(await history(api, uid)).toEqual(DONE_ONCE);
    expect(puller.lines('began')).toHaveLength(1);
    expect(puller.lines('error')).toEqual([]);
  });

  test('S4.5 a dispatch whose answer is lost is handed out again, with the log id that it has', async () => {
    await addWork(api, 'lara', 'lost-next');
    const server = await forgetful(api.url, (call) => call.path.endsWith('/next'));
    const puller = run(kit, 'Puller', { servers: [server.url], uid: 'lara' });
    await allDone(api, 'lara', 1);
    await ended(puller);
    expect(puller.lines('began')).toMatchObject([{ redo: true }]);
    expect(await history(api, 'lara')).toEqual(DONE_ONCE);
  });

  test('S4.7 a completion is sent until a server takes it, and its handler is run but once', async () => {
    await addWork(api, 'una', 'unwilling');
    const server = await unwilling(api.url, 4);
    const puller = run(kit, 'Puller', { servers: [server.url], uid: 'una', retrySeconds: 0 });
    await allDone(api, 'una', 1);
    await ended(puller);
    expect(puller.lines('began')).toHaveLength(1);
    const errors = puller.lines('error');
    expect(errors).toHaveLength(4);
    for (const line of errors)
      expect(line).toMatchObject({ error: expect.stringContaining('Unavailable'), item: 'unwilling' });
  });

  test('S4.7 a completion at which the server fails each time is given up, and its dispatch comes again', async () => {
    await addWork(api, 'fay', 'failed-completion');
    const server = await failing(api.url, ({ path }) => path.endsWith('/complete'), 500);
    const given = { servers: [server.url], uid: 'fay', retrySeconds: 0, backoffSeconds: 0.1 };
    const puller = run(kit, 'Puller', given);
    await eventually(async () => puller.lines('began').length === 2);
    await ended(puller);
    expect(puller.lines('began')[1]).toMatchObject({ began: 'failed-completion', redo: true });
  });
}

function testServerList(system: TestSystem, kit: Kit): void {
  const { api } = system;

  test('S4.3 it goes on with the next server when one answers 503 or none', async () => {
    await addWork(api, 'nora', 'next-server');
    const servers = ['http://127.0.0.1:1', await unavailable(), api.url];
    const puller = run(kit, 'Puller', { servers, uid: 'nora' });
    await allDone(api, 'nora', 1);
    await ended(puller);
    expect(puller.lines('error')).toEqual([]);
  });

  test('S4.3 S4.7 a server is killed: it goes on with the next one, and each task is completed once', async () => {
    const [dying, living] = await Promise.all([startOwnApi(system), startOwnApi(system)]);
    const ids = numbered(24, 'kill-');
    await Promise.all(ids.map((id) => addWork(api, 'kim', id, { seconds: 0.02 })));
    const puller = run(kit, 'Puller', { servers: [dying.api.url, living.api.url], uid: 'kim' });
    await eventually(async () => (await completions(api, 'kim')).length >= 10);
    await dying.end('SIGKILL');
    expect((await completions(api, 'kim')).length).toBeLessThan(ids.length);
    await allDone(api, 'kim', ids.length, 30_000);
    await ended(puller);
    for (const id of ids) expect(await history(api, 'kim', id)).toEqual(DONE_ONCE);
  }, 120_000);
}
