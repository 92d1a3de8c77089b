import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { note, wholeFeed } from '../support/feed.ts';
import { startFeed } from './exports.ts';
import { Broker, nodeForKafka, type Received } from './kafka/broker.ts';

const { node, env } = await nodeForKafka();
const [broker, feed] = await Promise.all([Broker.start(), startFeed({ node, env })]);
const { api, db, addSome, made, run, finish, brings, killedAgainAndAgain } = feed;
const url = `kafka://127.0.0.1:${broker.port}`;
for (const count of [1_000, 1_000]) await addSome(count);

/** Each event once, with its key and header; those of an item in order, in one partition. */
async function expectAll(received: Received[]): Promise<void> {
  const whole = await wholeFeed(api);
  await eventually(async () => {
    if (received.length < whole.length) throw new Error(`${received.length} of ${whole.length} events`);
    return true;
  }, 30_000);
  const bySeq = [...received].sort((a, b) => a.event.seq - b.event.seq);
  expect(bySeq.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
  expect(bySeq.map(({ id, key, event }) => ({ id, key, event }))).toEqual(
    whole.map((event) => ({ id: event.id, key: `${event.kind}/${event.itemId}`, event })),
  );
  const last = new Map<string, Received>();
  for (const one of received) {
    const before = last.get(one.key);
    if (before) expect([one.partition, one.event.seq > before.event.seq]).toEqual([before.partition, true]);
    last.set(one.key, one);
  }
  expect(new Set(received.map(({ partition }) => partition)).size).toBe(3);
}

test('S4.8 killed with -9 ten times, readers of committed records have every event once, those of an item in order', async () => {
  await finish(['--to', url, '--topic', 'killed']);
  const received = broker.consume('killed');
  await killedAgainAndAgain(['--to', url, '--topic', 'killed'], () => received.length);
  await expectAll(received);
}, 300_000);

test('S4.8 killed before a transaction ends, and before it knows that one has ended: nothing missing, nothing twice', async () => {
  const args = ['--to', `kafka://127.0.0.1:${broker.holding.port}`, '--topic', 'held'];
  await finish(args);
  const [received, raw] = [broker.consume('held'), broker.consume('held', 'read_uncommitted')];
  for (const what of ['request', 'request', 'answer'] as const) {
    await addSome(300);
    const held = broker.holding.hold(what);
    const child = run(args);
    await held;
    expect(await child.end('SIGKILL')).toBeNull();
  }
  await addSome(1);
  await finish(args);
  await expectAll(received);
  // the killed exports had written: 300, then these and 300 more
  await eventually(async () => expect(raw.length).toBe(received.length + 900));
}, 120_000);

test('S4.8 a second export to a topic takes over from the first, and nothing is there twice', async () => {
  const args = ['--to', url, '--topic', 'shared', '--follow'];
  const received = broker.consume('shared');
  const first = run(args);
  await brings(first, made() - 1, () => received.length);
  const second = run(args);
  await eventually(async () => {
    await addSome(1);
    expect(first.process.exitCode).toBe(1);
    return true;
  }, 30_000);
  expect(first.output()).toMatch(/Kafka at 127\.0\.0\.1:\d+ .*another export to this topic has taken over/);
  await brings(second, made() - 1, () => received.length);
  expect(await second.end('SIGTERM')).toBe(0);
  await expectAll(received);
}, 120_000);

test('S4.8 while the broker is away an export waits, and goes on when it is back', async () => {
  const args = ['--to', url, '--topic', 'broken', '--follow'];
  const child = run(args);
  const before = broker.consume('broken');
  await brings(child, made() - 1, () => before.length);
  await broker.kill();
  await addSome(500);
  await eventually(async () =>
    expect(child.output()).toMatch(/Kafka at .* cannot be reached \(connection refused\).*; trying again/),
  );
  await broker.start();
  const received = broker.consume('broken');
  await brings(child, made() - 1, () => received.length);
  expect(await child.end('SIGTERM')).toBe(0);
  await expectAll(received);
}, 180_000);

test('S4.8 over TLS with a user and a password, events larger together than a broker takes at once', async () => {
  for (let n = 0; n < 40; n++) await note(db, 't1', { large: 'x'.repeat(60_000) });
  const at = (password: string) => `kafka://olga:${password}@localhost:${broker.securePort}?tls=true`;
  const secure = { NODE_EXTRA_CA_CERTS: broker.certificate };
  const refused = run(['--to', at('hunter2')], secure);
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toMatch(/--url: Kafka at localhost:\d+ answers ".*uthentication failed/);
  expect(refused.output()).not.toContain('hunter2');
  const child = run(['--to', at('p%40ss')], secure);
  expect([await child.exited, child.output()]).toEqual([0, expect.stringContaining('up to position')]);
  await expectAll(broker.consume('docket-events'));
}, 120_000);

test('S4.8 a Node.js for which there is no client of Kafka says so', async () => {
  const older = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})";
  const options = `${env.NODE_OPTIONS ?? ''} --import=data:text/javascript,${encodeURIComponent(older)}`;
  const child = run(['--to', url], { NODE_OPTIONS: options });
  expect(await child.exited).toBe(1);
  expect(child.output()).toMatch(/^docket export: --to kafka needs Node\.js 22\.22.*; this is Node\.js 20\.19\.0/m);
});
