import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { Secrets } from '../../runtime/secrets.ts';
import { addCase, claimed, court, jurors, voted } from '../support/cases.ts';
import { docketHere, expectFailure } from '../support/cli.ts';
import { claimOne, eventually } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { job } from '../support/jobs.ts';
import { opened, SECRET, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../support/tasks.ts';
import { add, configure, decide } from '../support/tickets.ts';
import { HOUR_MS, inMs } from '../support/times.ts';

const newKey = () => randomBytes(32).toString('base64');
const [old, fresh] = [newKey(), newKey()];
const stores = await testStores();
const { api, sql, stop } = await startTestSystem({ DOCKET_SECRETS_KEY: old }, { stores });

/** In which tables a secret stands as it is. */
async function bare(): Promise<string[]> {
  const tables = await sql<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`);
  const found = [];
  for (const { name } of tables)
    if ((await sql(`select from ${name} t where t::text like '%whsec_%' limit 1`)).length > 0) found.push(name);
  return found;
}

test('S0.10 with a key no secret stands in the database as it is, and receivers are called with the one that was set', async () => {
  const { callback, received } = await startReceiver();
  await configure(api, 'by-queue', { callback });
  await add(api, 'by-queue', { id: 'of-queue' });
  await add(api, 'by-ticket', { id: 'of-ticket', callback });
  await court(api, 'court', { votesToWin: 1, callback, invitationCallback: callback });
  await jurors(api, 'court', ['june']);
  await addCase(api, 'court', { id: 'of-case', callback });
  await put(api, 'of-review', { text: { status: 0 }, callback });
  await api.put('/v1/topics/topic', { push: callback });
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'of-task', executor: 'uid_tim', callback });
  expect(await bare()).toEqual([]);

  for (const queue of ['by-queue', 'by-ticket']) await decide(api, await claimOne(api, queue, 'anna'));
  const { token } = await claimed(api, 'court', 'june');
  await voted(api, 'of-case', token, 'buyer');
  await tell(api, 'of-review', { kind: 'text', status: 2 });
  await job(api, 'add', { topic: 'topic', id: 'of-job', body: 1 });
  await completed(api, 'tim', (await handed(api, 'tim')).logId);
  const types = () => received.map((call) => opened(call).type).sort();
  const sent = ['case.decided', 'job', 'review.changed', 'task.completed', 'ticket.decided', 'ticket.decided'];
  await eventually(async () => sent.every((type) => types().includes(type)) && received.length >= sent.length);
  expect(await bare()).toEqual([]);
});

test('S0.10 administrators see the secret that was set, and what is sent again is the same', async () => {
  const callback = { url: 'https://example.com/hook', secret: SECRET };
  for (const status of [201, 200])
    expect((await api.post('/v1/queues/twice/tickets', { id: 'twice', body: 1, callback })).status).toBe(status);
  expect((await api.put('/v1/queues/seen', { callback })).body.callback).toEqual(callback);
  expect((await api.get('/v1/queues/seen')).body.callback).toEqual(callback);
  expect((await api.put('/v1/topics/seen', { push: callback })).body.push).toMatchObject(callback);
  const court = (await api.put('/v1/courts/seen', { callback, invitationCallback: callback })).body;
  expect([court.callback, court.invitationCallback]).toEqual([callback, callback]);
  const producer = api.as((await api.post('/v1/keys', { role: 'producer' })).body.key);
  for (const path of ['/v1/queues/seen', '/v1/courts/seen'])
    expect((await producer.get(path)).body.callback).toEqual({ ...callback, secret: 'whsec_hidden' });
  expect(await bare()).toEqual([]);
});

test('S0.10 a key that is missing says so at the delivery, which is made when it is back; a new one goes before the old one', async () => {
  const { callback, received } = await startReceiver();
  await configure(api, 'moved', { callback });
  await add(api, 'moved', { id: 'moved' });
  await api.put('/v1/topics/moved', { maxAttempts: 1, push: callback });
  await addTask(api, { id: 'moved', executor: 'uid_tom', startTime: inMs(HOUR_MS), callback });
  await stop();

  const without = await startTestSystem({}, { stores });
  expect((await without.api.get('/v1/queues/moved')).body.callback.secret).toMatch(/^sealed:/);
  await decide(without.api, await claimOne(without.api, 'moved', 'anna'), 1);
  const delivery = async () => (await without.api.get('/v1/tickets/moved/deliveries')).body.items[0];
  await eventually(async () => /DOCKET_SECRETS_KEY does not have/.test((await delivery())?.error ?? ''));
  await job(without.api, 'add', { topic: 'moved', id: 'moved', body: 1 });
  await sleep(2_500);
  // nothing was tried, so the one attempt is left
  expect((await without.api.get('/v1/jobs/moved')).body).toMatchObject({ state: 'ready', attempts: 0 });
  expect(received).toEqual([]);
  await without.stop();

  const both = await startTestSystem({ DOCKET_SECRETS_KEY: `${fresh},${old}` }, { stores });
  await eventually(async () => received.length === 2, 60_000);
  expect(received.map((call) => opened(call).type).sort()).toEqual(['job', 'ticket.decided']);
  // a change seals with the key of today, whatever it changes
  expect((await both.api.patch('/v1/tasks/moved', { dispatchTimes: 2 })).status).toBe(200);
  const sealed = await both.sql(`select left(callback ->> 'secret', 16) as by from task where id = 'moved'
    union select left(callback ->> 'secret', 16) from queue where kind = 'ticket' and name = 'moved'`);
  expect(sealed).toHaveLength(2);
  expect((await both.api.get('/v1/queues/moved')).body.callback).toEqual(callback);
  await configure(both.api, 'moved', { callback });
  await both.stop();
  const after = await startTestSystem({ DOCKET_SECRETS_KEY: fresh }, { stores });
  expect((await after.api.get('/v1/queues/moved')).body.callback).toEqual(callback);
}, 180_000);

test('S0.10 docket reseal seals all secrets with the new key, so that the old one is needed by nothing', async () => {
  const { callback, received } = await startReceiver();
  const own = await testStores();
  const bareOne = await startTestSystem({}, { stores: own });
  await configure(bareOne.api, 'never-sealed', { callback });
  await bareOne.stop();
  const before = await startTestSystem({ DOCKET_SECRETS_KEY: old }, { stores: own });
  await configure(before.api, 'sealed', { callback });
  await court(before.api, 'sealed', { callback, invitationCallback: callback });
  await before.api.put('/v1/topics/sealed', { push: callback });
  await add(before.api, 'sealed', { id: 'sealed', callback });
  await put(before.api, 'sealed', { text: { status: 0 }, callback });
  await addTemplate(before.api, 'plain');
  await addTask(before.api, { id: 'sealed', executor: 'uid_tim', callback });
  await before.stop();

  const env = { DATABASE_URL: own.databaseUrl };
  expectFailure(await docketHere(['reseal'], env), /DOCKET_SECRETS_KEY is not set/);
  expectFailure(
    await docketHere(['reseal'], { ...env, DOCKET_SECRETS_KEY: fresh }),
    /put the keys .* behind the others/,
  );
  const keys = { ...env, DOCKET_SECRETS_KEY: `${fresh},${old}` };
  expect(await docketHere(['reseal'], keys)).toMatchObject({ code: 0 });
  // all is done already
  expect((await docketHere(['reseal'], keys)).stdout).toMatch(/^0 callbacks are sealed anew/);
  const secrets = new Secrets([Buffer.from(fresh, 'base64')]);
  expect((await testDoctor(own).findings({ secrets, deep: true })).secrets).toBeUndefined();
  const after = await startTestSystem({ DOCKET_SECRETS_KEY: fresh }, { stores: own });
  for (const path of ['queues/never-sealed', 'queues/sealed', 'courts/sealed'])
    expect((await after.api.get(`/v1/${path}`)).body.callback, path).toEqual(callback);
  expect((await after.api.get('/v1/topics/sealed')).body.push).toMatchObject(callback);
  expect((await decide(after.api, await claimOne(after.api, 'sealed', 'anna'))).status).toBe(200);
  await tell(after.api, 'sealed', { kind: 'text', status: 2 });
  // each with the signature of the secret that was set
  const types = () => received.map((call) => opened(call).type);
  await eventually(async () => ['ticket.decided', 'review.changed'].every((type) => types().includes(type)));
}, 180_000);

test('docket doctor names the keys that are missing, and what is sealed with them', async () => {
  const doctor = testDoctor(stores);
  const found = async (keys: string[], deep = false) => {
    const secrets = new Secrets(keys.map((key) => Buffer.from(key, 'base64')));
    return (await doctor.findings({ secrets, deep })).secrets;
  };
  expect(await found([fresh, old], true)).toBeUndefined();
  const withoutOld = await found([fresh]);
  expect(withoutOld).toMatchObject({ severity: 'warning', count: expect.any(Number) });
  expect(withoutOld?.examples.join()).toMatch(/^courts sealed with the key [0-9a-f]{8}: \d+,.*queues sealed/);
  expect((await found([fresh], true))?.count).toBeGreaterThan(withoutOld?.count ?? 0);
});

test('a key that is none is refused, and not shown', () => {
  for (const wrong of ['short', randomBytes(31).toString('base64'), `${old},`, `${old},short`]) {
    expect(() => readConfig({ DOCKET_SECRETS_KEY: wrong })).toThrow(/DOCKET_SECRETS_KEY must be 32 bytes in base64/);
    expect(() => readConfig({ DOCKET_SECRETS_KEY: wrong })).not.toThrow(wrong);
  }
});
