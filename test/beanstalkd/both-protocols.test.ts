import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { numberOf, startTubes } from './system.ts';
import { Wire } from './wire.ts';

const { api, at, databaseUrl, namespace } = await startTubes({});

async function job(command: string, fields: object): Promise<Json> {
  const { status, body } = await api.post('/v1/jobs', { command, ...fields });
  expect(status).toBe(200);
  return body;
}

test('S3.8 put over TCP, popped and finished over HTTP', async () => {
  const wire = await at('tcp-http');
  const number = numberOf(await wire.put('hello', { pri: 7, ttr: 30 }));
  const popped = await job('pop', { topic: 'tcp-http' });
  expect(popped).toMatchObject({ id: `tcp-http:${number}`, value: 'hello', attempt: 1 });
  const { body } = await api.get(`/v1/jobs/${encodeURIComponent(popped.id)}`);
  expect(body).toMatchObject({ number, topic: 'tcp-http', state: 'reserved', TTR: 30, priority: 7 });
  expect(await wire.ask(`delete ${number}`)).toBe('NOT_FOUND\r\n');
  expect(await wire.ask(`stats-job ${number}`)).toContain('\nstate: reserved\n');
  expect(await job('finish', { id: popped.id, token: popped.token })).toMatchObject({ success: true });
  expect(await wire.ask(`peek ${number}`)).toBe('NOT_FOUND\r\n');
});

test('S3.8 added over HTTP, reserved and finished over TCP', async () => {
  const wire = await at('http-tcp');
  wire.send('reserve\r\n');
  await job('add', { topic: 'http-tcp', id: 'order-1', delay: 0, TTR: 60, body: { order: 1 } });
  const reply = await wire.reply();
  expect(reply).toMatch(/^RESERVED \d+ 11\r\n\{"order":1\}\r\n$/);
  expect(await job('pop', { topic: 'http-tcp' })).toMatchObject({ id: null });
  expect(await wire.ask(`delete ${numberOf(reply)}`)).toBe('DELETED\r\n');
  expect((await api.get('/v1/jobs/order-1')).body.state).toBe('finished');
});

test('S3.8 bytes that are not text keep their form over HTTP', async () => {
  const wire = await at('bytes');
  const bytes = Buffer.from([0, 1, 2, 255, 13, 10]);
  const number = numberOf(await wire.ask(Buffer.concat([Buffer.from(`put 0 0 60 ${bytes.length}\r\n`), bytes])));
  expect(await job('peek', { topic: 'bytes' })).toMatchObject({ value: { $base64: bytes.toString('base64') } });
  expect(await wire.ask(`peek ${number}`)).toBe(`FOUND ${number} 6\r\n${bytes.toString('latin1')}\r\n`);
  await job('add', { topic: 'bytes', id: 'b2', delay: 0, TTR: 60, priority: 0, body: { $base64: 'AAH/' } });
  expect(await wire.ask(`delete ${number}`)).toBe('DELETED\r\n');
  expect(await wire.ask('reserve')).toContain(' 3\r\n\0\x01\xff\r\n');
});

test('S3.8 what only looks like base64 goes as its JSON text', async () => {
  const wire = await at('no-base64');
  const bodies = ['not base64!', 'AAH_', 'AAE', 'AAH/ '].map(($base64) => ({ $base64 }));
  for (const [n, body] of bodies.entries()) await job('add', { topic: 'no-base64', id: `n${n}`, body });
  for (const body of bodies) expect(await wire.ask('reserve')).toContain(`\r\n${JSON.stringify(body)}\r\n`);
});

test('S3.8 a job that is too long for TCP is not offered there', async () => {
  const wire = await at('long');
  await job('add', { topic: 'long', id: 'long1', delay: 0, TTR: 60, body: 'x'.repeat(65_536) });
  expect(await wire.ask('reserve-with-timeout 0')).toBe('TIMED_OUT\r\n');
  const { number } = (await api.get('/v1/jobs/long1')).body;
  expect(await wire.ask(`reserve-job ${number}`)).toBe('NOT_FOUND\r\n');
  expect(await job('pop', { topic: 'long' })).toMatchObject({ id: 'long1' });
});

test('S3.1 S3.8 a job that is too long for those who wait over TCP is for who waits over HTTP', async () => {
  const wires = await Promise.all(repeat(30, () => at('long-waits')));
  for (const wire of wires) wire.send('reserve\r\n');
  const popping = job('pop', { topic: 'long-waits', wait: 20 });
  await job('add', { topic: 'long-waits', id: 'long2', delay: 0, TTR: 60, body: 'x'.repeat(65_536) });
  // all of them are asked: by the slow poll alone it would take minutes
  expect(await popping).toMatchObject({ id: 'long2' });
});

test('S3.1 S3.8 finish over HTTP without a token ends a reservation over TCP', async () => {
  const wire = await at('ended');
  const number = numberOf(await wire.put('x'));
  await wire.ask('reserve');
  expect(await job('finish', { id: `ended:${number}` })).toMatchObject({ success: true });
  for (const line of [`touch ${number}`, `release ${number} 0 0`, `bury ${number} 0`, `delete ${number}`])
    expect(await wire.ask(line)).toBe('NOT_FOUND\r\n');
});

test('S3.3 S3.8 a killed connection gives everything back at once, and it is no time-out', async () => {
  const [holder, other] = [await at('killed'), await at('killed')];
  const numbers = [];
  for (let n = 0; n < 5; n++) numbers.push(numberOf(await other.put(`job ${n}`, { ttr: 1000 })));
  for (let n = 0; n < 5; n++) await holder.ask('reserve');
  other.send('reserve\r\n');
  holder.socket.resetAndDestroy();
  expect(numberOf(await other.reply())).toBe(numbers[0]);
  await eventually(async () =>
    (await other.ask('stats-tube killed')).includes('-ready: 4\ncurrent-jobs-reserved: 1\n'),
  );
  expect(await other.ask(`stats-job ${numbers[4]}`)).toMatch(/reserves: 1\ntimeouts: 0\nreleases: 0\n/);
  expect((await job('pop', { topic: 'killed', wait: 10 })).attempt).toBe(2);
});

test('S3.3 S3.8 TTR: never early, ready for anybody after it, and the late one is told', async () => {
  const wire = await at('ttr');
  const number = numberOf(await wire.put('x', { ttr: 2 }));
  const start = performance.now();
  await wire.ask('reserve');
  const again = await job('pop', { topic: 'ttr', wait: 10 });
  expect(again).toMatchObject({ id: `ttr:${number}`, attempt: 2 });
  expect(performance.now() - start).toBeGreaterThan(1_990);
  expect(await wire.ask(`touch ${number}`)).toBe('NOT_FOUND\r\n');
  expect(await wire.ask(`delete ${number}`)).toBe('NOT_FOUND\r\n');
  expect(await wire.ask(`stats-job ${number}`)).toMatch(/state: reserved\n[\s\S]*reserves: 2\ntimeouts: 1\n/);
});

test('S3.8 a topic paused over TCP is paused over HTTP, and waiting pops begin when it ends', async () => {
  const wire = await at('paused');
  await wire.put('x');
  expect(await wire.ask('pause-tube paused 1')).toBe('PAUSED\r\n');
  expect(await job('pop', { topic: 'paused' })).toMatchObject({ id: null });
  expect((await job('pop', { topic: 'paused', wait: 20 })).value).toBe('x');
});

test('S3.8 a topic with a limit of attempts buries over TCP too', async () => {
  await api.put('/v1/topics/limited', { maxAttempts: 1, paused: false, push: null });
  const wire = await at('limited');
  const number = numberOf(await wire.put('x'));
  await wire.ask('reserve');
  expect(await wire.ask(`release ${number} 0 0`)).toBe('BURIED\r\n');
  expect(await wire.ask('kick 1')).toBe('KICKED 1\r\n');
});

test('S3.8 several connections wait: each job goes to one of them', async () => {
  const wires = await Promise.all(repeat(20, () => at('many')));
  for (const wire of wires) wire.send('reserve\r\n');
  const producer = await at('many');
  for (let n = 0; n < 20; n++) await producer.put(String(n));
  const got = await Promise.all(wires.map(async (w) => numberOf(await w.reply())));
  expect(new Set(got).size).toBe(20);
});

test('S3.4 S3.8 SIGUSR1 drains, SIGTERM gives back what is reserved, and both are said', async () => {
  const child = await startChild('api', settingsFor({ databaseUrl, namespace }, { BEANSTALKD_PORT: '0' }));
  const port = Number(/beanstalkd 127\.0\.0\.1:(\d+)/.exec(child.output())?.[1]);
  const wire = await Wire.open(port);
  await wire.ask('use drained');
  await wire.ask('watch drained');
  const number = numberOf(await wire.put('x', { ttr: 1000 }));
  await wire.ask('reserve');
  child.process.kill('SIGUSR1');
  await eventually(async () => (await wire.put('y')) === 'DRAINING\r\n');
  expect(await wire.ask('stats')).toContain('\ndraining: true\n');
  expect(await wire.ask(`stats-job ${number}`)).toContain('\nstate: reserved\n');
  const second = await Wire.open(port);
  second.send('reserve\r\n');
  expect(await child.end('SIGTERM')).toBe(0);
  expect(await second.reply()).toBe('(closed)');
  const after = await at('drained');
  expect(await after.ask(`stats-job ${number}`)).toMatch(/state: ready\n[\s\S]*timeouts: 0\n/);
});

test('S3.8 a number whose name a job over HTTP has is passed over', async () => {
  const wire = await at('taken');
  const first = numberOf(await wire.put('x'));
  // these draw a hundred numbers of their own, and have the names that go with the hundred after them
  const jobs = repeat(100, (n) => ({ topic: 'taken', id: `taken:${first + n + 101}`, body: n }));
  expect(await job('add', { jobs })).toMatchObject({ success: true });
  const reply = await wire.put('y');
  expect(reply).toMatch(/^INSERTED \d+\r\n$/);
  const number = numberOf(reply);
  expect((await api.get(`/v1/jobs/taken:${number}`)).body).toMatchObject({ number, topic: 'taken', body: 'y' });
});

test('S3.8 topics that are no tubes by their names stay out of lists, and their jobs are reached by number', async () => {
  for (const topic of ['two words', '- "a": [b]', '中文', '-dash', 'tube+1'])
    await job('add', { topic, id: `in ${topic}`, body: topic });
  const wire = await at('lists');
  const tubes = (await wire.ask('list-tubes')).split('\r\n')[1];
  expect(tubes).toContain('- tube+1\n');
  expect(tubes).toMatch(/^---\n(- [A-Za-z0-9+/;.$_()][A-Za-z0-9+/;.$_()-]*\n)+$/);
  const { number } = (await api.get(`/v1/jobs/${encodeURIComponent('in - "a": [b]')}`)).body;
  expect(await wire.ask(`stats-job ${number}`)).toContain('\ntube: "- \\"a\\": [b]"\n');
  expect(await wire.ask(`reserve-job ${number}`)).toMatch(/^RESERVED/);
  expect(await wire.ask(`delete ${number}`)).toBe('DELETED\r\n');
});

test('S3.8 kick takes as many as it is asked for, over HTTP and TCP', async () => {
  const count = 2_500;
  for (let from = 0; from < count; from += 500)
    await job('add', {
      jobs: repeat(500, (n) => ({ topic: 'kicked', id: `kicked-${from + n}`, delay: 3600, body: 1 })),
    });
  expect(await job('kick', { topic: 'kicked', count: 2_100 })).toMatchObject({ success: true, value: 2_100 });
  const wire = await at('kicked');
  expect(await wire.ask('kick 4000000000')).toBe('KICKED 400\r\n');
  expect((await api.get('/v1/topics/kicked/stats')).body).toMatchObject({ ready: count, delayed: 0 });
});
