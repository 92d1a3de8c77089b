import { expect } from 'vitest';
import { type Client, eventually, type Json } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import { addTask, dispatchLog, handed } from '../../support/tasks.ts';
import { inMs } from '../../support/times.ts';
import { began, ended, endedWith, expectBegun, failure, NO_SERVER, named, type Program, refusal } from '../driver.ts';
import { callsOf, failing, forgetful, recorded, startOwnApi, unwilling } from '../stand-ins.ts';
import { scenariosOf, type WorkScenario } from './kinds.ts';

const addWork = (api: Client, uid: string, id: string, more: object): Promise<Json> =>
  addTask(api, { id, executor: `uid_${uid}`, templateId: 'work', params: {}, ...more });
const ofUser = (api: Client, uid: string): Promise<Json[]> => dispatchLog(api, `uid=${uid}`);
const completions = async (api: Client, uid: string): Promise<Json[]> =>
  (await ofUser(api, uid)).filter((line) => line.type === 'completed');
const isError = (name: string, item: string, text = '') => ({
  ...{ error: expect.stringContaining(name), text: expect.stringContaining(text), item },
});

/** Tells it to stop: it ends before a pause or a wait of so many seconds would be over. */
async function endedWithin(seconds: number, puller: Program): Promise<void> {
  const began = performance.now();
  await ended(puller);
  expect(performance.now() - began).toBeLessThan(seconds * 1000);
}

/** @param fail how the handler fails once: with a result that is not a JSON value, or is too large */
const cannotSend =
  (fail: string): WorkScenario =>
  async ({ prepare, work }) => {
    const [id = ''] = await prepare(fail, [{ fail, failures: 1 }]);
    const puller = await work(fail, [id], { retrySeconds: 2 });
    expectBegun(puller, id, [0.5]);
    const [first, second] = puller.lines('began');
    expect(second).toMatchObject({ redo: true, logId: first.logId });
    expect(puller.lines('error')).toMatchObject([{ item: id }]);
  };

/** @param once whether the server that forgets is gone afterwards */
const isSentAgain =
  (once: boolean): WorkScenario =>
  async ({ api, prepare, start, history, kind }) => {
    const uid = `lost-${once}`;
    const [id = ''] = await prepare(uid, [{}]);
    const first = await forgetful(api.url, (call) => kind.ends(call, id), once);
    const second = await recorded(api.url);
    const puller = start(uid, { servers: [first.url, second.url].slice(0, once ? 2 : 1) });
    const sent = () => [first, second].map((server) => callsOf(server, '/complete')).join();
    await eventually(async () => sent() === (once ? '1,1' : '2,0'));
    await ended(puller);
    expect(sent()).toEqual(once ? '1,1' : '2,0');
    expect(await history(id)).toEqual(kind.doneOnce);
    expectBegun(puller, id);
    expect(puller.lines('error')).toEqual([]);
  };

/** What each client does with tasks alone. */
export const puller = scenariosOf('task', {
  'S4.1 S4.5 S4.7 what a user of tasks asks is answered, and what is refused has a type': async ({ api, connect }) => {
    const task = {
      ...{ id: 'ask-1', type: 'once', executor: 'gid_ask', startTime: inMs(-9000), templateId: 'ask' },
      params: { address: 'ä/ö' },
    };
    const later = { ...task, id: 'ask-2', startTime: inMs(-1000) };
    const call = connect();
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
    expect(reasons).toEqual({ excluded: 1, done: 0, taken: 0, notYet: 0, passed: 0, tooOld: 0 });
    expect(await call('complete', 'asker', logId, done)).toBe(completedAt);
    expect(await refusal(call('complete', 'asker', logId, 'other'))).toBe('Http lease_lost');
    expect(await refusal(call('addTask', 'ask-1', { ...task, dispatchTimes: 9 }))).toBe('Http id_conflict');
    const mismatch = { ...task, id: 'mismatch', params: { address: 1 } };
    expect(await refusal(call('addTask', 'mismatch', mismatch))).toBe('Http template_mismatch');
    expect(await refusal(call.with({ apiKey: 'wrong' })('next', 'asker'))).toBe('Auth unauthenticated');
    expect(await refusal(call.with(NO_SERVER)('next', 'asker'))).toBe('Unavailable');
    expect((await completions(api, 'asker')).map((line) => line.result)).toEqual([done]);
  },

  'S4.1 S4.4 a user gives a task back, an operator takes one, and a changed template is for new tasks': async ({
    connect,
  }) => {
    const call = connect();
    await call('addTemplate', 'given', {});
    const of = { type: 'once', executor: 'uid_gil', startTime: inMs(-1000), templateId: 'given', dispatch: 'blocking' };
    await call('addTask', 'given-1', of);
    const next = async () => (await call('next', 'gil')).dispatch.logId;
    const logId = await next();
    const back = () => call('releaseTask', 'gil', named({ logId, reason: 'too far' }));
    const releasedAt = await back();
    expect(await back()).toBe(releasedAt);
    const again = await next();
    expect(again).not.toBe(logId);
    expect(await failure(back())).toMatchObject({ error: 'StaleLogId', current: again });
    expect(await call('releaseTask', 'gil')).not.toBe(releasedAt);
    await call('changeTemplate', 'given', { params: { place: { type: 'string' } } });
    expect(await refusal(call('addTask', 'given-2', of))).toBe('Http template_mismatch');
    await call('changeTemplate', 'given', { params: {} });
    expect((await call('addTask', 'given-2', of)).id).toBe('given-2');
  },

  'S4.5 a puller with a key that is not of its user ends with that': async ({ running, start }) => {
    const { key } = await createKey(running.runtime.db, { name: 'other', role: 'reviewer', subject: 'somebody' });
    await endedWith(start('forbidden', { apiKey: key }), 'Auth');
  },

  'S4.6 it does what is due and then what comes, in order, but for what it excludes': async ({ api, start, done }) => {
    const starts = { 'orla-2': -5000, 'orla-1': -9000, 'orla-x': -7000 };
    for (const [id, ms] of Object.entries(starts)) await addWork(api, 'orla', id, { startTime: inMs(ms) });
    const puller = start('orla', { exclude: ['orla-x'], wait: 5 });
    await done(['orla-1', 'orla-2']);
    await addWork(api, 'orla', 'orla-3', { startTime: inMs(500) });
    await done(['orla-3']);
    await ended(puller);
    expect(began(puller)).toEqual(['orla-1', 'orla-2', 'orla-3']);
    expect((await completions(api, 'orla'))[0]?.result).toEqual({ of: 'orla-1', empty: {} });
    expect(puller.lines('error')).toEqual([]);
  },

  'S4.5 a handler that fails gets the same log id again, later each time, before anything else': async (scene) => {
    const { prepare, work, history, kind } = scene;
    const ids = await prepare('fails', [{ fail: 'error', failures: 2 }, {}]);
    const [fails = '', follows = ''] = ids;
    const puller = await work('fails', ids, { stuckAfter: 2 });
    const lines = puller.lines('began');
    expect(lines.map(({ redo }) => redo)).toEqual([false, true, true, false]);
    expect(began(puller)).toEqual([fails, fails, fails, follows]);
    expect(new Set(lines.map((line) => line.logId)).size).toBe(2);
    expectBegun(puller, fails, [0.5, 1]);
    const failed = isError('', fails, 'as asked');
    expect(puller.lines('error')).toMatchObject([
      { ...failed, error: expect.not.stringContaining('Stuck') },
      { ...failed, error: expect.stringContaining('Stuck') },
    ]);
    expect(await history(fails)).toEqual(kind.doneOnce);
  },

  'S4.5 a result that cannot be sent (unsayable) is a failure like any other': cannotSend('unsayable'),
  'S4.5 a result that cannot be sent (large) is a failure like any other': cannotSend('large'),

  'S4.7 a log id that is stale by then is reported, and the loop goes on': async (scene) => {
    const { prepare, work, history, kind } = scene;
    const [id = ''] = await prepare('stale', [{ fail: 'slow', failures: 1, seconds: 5 }], { answerSeconds: 3 });
    const puller = await work('stale', [id], { backoffSeconds: 60 });
    expect(puller.lines('error')).toMatchObject([isError('StaleLogId', id)]);
    expect(await history(id)).toEqual(['dispatched', 'returned', ...kind.doneOnce]);
    expect(new Set(puller.lines('began').map((line) => line.logId)).size).toBe(2);
  },

  'S4.3 told to stop while it waits, it ends at once, and gets nothing that comes later': async (scene) => {
    const { api, running, start, kit } = scene;
    const { waiters } = running.runtime;
    await eventually(async () => waiters.size === 0);
    // shorter than the 15 seconds that the time-out of the PHP client's HTTP client is
    const wait = kit.extension === 'php' ? 14 : 60;
    const puller = start('wanda', { wait });
    await eventually(async () => waiters.size > 0);
    await endedWithin(wait, puller);
    await eventually(async () => waiters.size === 0);
    expect(puller.lines('error')).toEqual([]);
    await addWork(api, 'wanda', 'after', {});
    expect(await ofUser(api, 'wanda')).toEqual([]);
    expect(await handed(api, 'wanda')).toMatchObject({ redo: false, task: { id: 'after' } });
  },

  'S4.5 told to stop before it asks again for what failed, it ends at once, and another gets it': async (scene) => {
    const { prepare, start, work } = scene;
    const ids = await prepare('paused', [{ fail: 'error', failures: 1 }]);
    const puller = start('paused', { backoffSeconds: 60 });
    await eventually(async () => puller.lines('error').length === 1);
    await endedWithin(60, puller);
    const other = await work('paused', ids);
    expect(other.lines('began')).toMatchObject([{ redo: true, logId: puller.lines('began')[0]?.logId }]);
  },

  'S4.7 a completion whose answer is lost is sent again, to the same server, and done once': isSentAgain(false),
  'S4.7 a completion whose answer is lost is sent again, to the next server, and done once': isSentAgain(true),

  'S4.5 a dispatch whose answer is lost is handed out again, with the log id that it has': async (scene) => {
    const { api, prepare, work, history, kind } = scene;
    const [id = ''] = await prepare('lost-next', [{}]);
    const { url } = await forgetful(api.url, (call) => call.path.endsWith('/next'));
    const puller = await work('lost-next', [id], { servers: [url] });
    expect(puller.lines('began')).toMatchObject([{ redo: true }]);
    expect(await history(id)).toEqual(kind.doneOnce);
  },

  'S4.7 a completion is sent until a server takes it, and its handler is run but once': async (scene) => {
    const { api, prepare, work } = scene;
    const [id = ''] = await prepare('unwilling', [{}]);
    const { url } = await unwilling(api.url, 4);
    const puller = await work('unwilling', [id], { servers: [url], retrySeconds: 0 });
    expectBegun(puller, id);
    expect(puller.lines('error')).toMatchObject(Array(4).fill(isError('Unavailable', id)));
  },

  'S4.7 a completion at which the server fails each time is given up, and its dispatch comes again': async (scene) => {
    const { api, prepare, start } = scene;
    const [id = ''] = await prepare('failed', [{}]);
    const { url } = await failing(api.url, ({ path }) => path.endsWith('/complete'), 500);
    const puller = start('failed', { servers: [url], retrySeconds: 0, backoffSeconds: 0.1 });
    await eventually(async () => puller.lines('began').length === 2);
    await ended(puller);
    expect(puller.lines('began')[1]).toMatchObject({ began: id, redo: true });
  },

  'S4.3 S4.7 a server is killed: it goes on with the next one, and each task is completed once': async (scene) => {
    const { api, prepare, start, done, history, kind } = scene;
    const dying = await startOwnApi(scene);
    const ids = await prepare('kim', Array(24).fill({ seconds: 0.02 }));
    const puller = start('kim', { servers: [dying.api.url, api.url] });
    await eventually(async () => (await completions(api, 'kim')).length >= 10);
    await dying.end('SIGKILL');
    expect((await completions(api, 'kim')).length).toBeLessThan(ids.length);
    await done(ids);
    await ended(puller);
    for (const id of ids) expect(await history(id)).toEqual(kind.doneOnce);
  },
});
