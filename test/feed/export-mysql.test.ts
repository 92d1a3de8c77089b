import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { note, wholeFeed } from '../support/feed.ts';
import { addNew } from '../support/rows.ts';
import { startFeed } from './exports.ts';
import { Mariadb } from './mariadb.ts';

const [server, feed] = await Promise.all([Mariadb.start(), startFeed()]);
const { api, db, erased, addSome, made, run, finish, brings, killedAgainAndAgain } = feed;
for (const count of [1_000, 1_000]) await addSome(count);

const SELECT = `select seq, id, kind, item_id as itemId, type, actor,
  date_format(at, '%Y-%m-%dT%H:%i:%s.%fZ') as at, data`;
const rows = (table: string) => server.query(`${SELECT} from ${table} order by seq`);
const count = async (table: string) => {
  const [found] = await server.query(`select count(*) as n from ${table}`).catch(() => []);
  return found?.n ?? 0;
};
const expectAll = async (table: string) => {
  const whole = await wholeFeed(api);
  const copied: Json[] = (await rows(table)).map((row) => ({ ...row, at: new Date(row.at).toISOString() }));
  expect(copied).toEqual(whole);
  const { seq, id } = copied.at(-1) ?? {};
  expect(await server.query(`select seq, id from ${table}_position`)).toEqual([{ seq, id }]);
};

test('S4.8 killed with -9 ten times, the table has every event once, and the position fits', async () => {
  await killedAgainAndAgain(['--to', server.url(), '--table', 'killed'], () => count('killed'));
  await expectAll('killed');
}, 180_000);

test('S4.8 killed while it writes events, and while it writes their position: nothing is missing', async () => {
  const args = ['--to', server.url(), '--table', 'held'];
  await finish(args);
  for (const table of ['held', 'held_position']) {
    const before = await count('held');
    await addSome(30);
    const lock = await server.lock(`select * from ${table}`);
    const child = run(args);
    await lock.waitedFor;
    expect(await child.end('SIGKILL')).toBeNull();
    expect(await count('held')).toBe(before);
    lock.release();
    await finish(args);
    await expectAll('held');
  }
}, 120_000);

test('S4.8 events that are there already are replaced, not doubled', async () => {
  const args = ['--to', 'mysql', '--url', server.url(), '--table', 'events.replaced'];
  await finish(args);
  await server.query('update replaced_position set seq = 100, id = (select id from replaced where seq = 100)');
  await server.query(`update replaced set actor = 'nobody' where seq = 200`);
  expect(await finish(args)).toContain(` ${made() - 100} events`);
  await expectAll('replaced');
});

test('S4.8 ids that differ in case or in an accent only, and text of any kind, are kept as they are', async () => {
  const ids = ['Elan', 'elan', 'élan', '🏛️-中', 'quote\'"\\'];
  await addNew(db, 'q', ids);
  await note(db, 'Elan', { text: 'a\\b "c" \'d\' %s ? \n 🏛️', large: 'x'.repeat(60_000) });
  // as an operator's signal may name who sends it
  await note(db, 'Elan', {}, 'olga '.repeat(400));
  for (let n = 0; n < 40; n++) await note(db, 'elan', { large: '中'.repeat(20_000) });
  await finish(['--to', server.url()]);
  await expectAll('docket_event');
  const found = await server.query(`select distinct item_id from docket_event where item_id = 'elan'`);
  expect(found).toEqual([{ item_id: 'elan' }]);
});

test('S4.8 while the server is away an export waits, and goes on when it is back', async () => {
  const child = run(['--to', server.url(), '--table', 'broken', '--follow']);
  const all = (await wholeFeed(api)).length;
  await brings(child, all - 1, () => count('broken'));
  await server.kill();
  await addSome(500);
  await eventually(async () => expect(child.output()).toMatch(/MySQL at .* cannot be reached .*trying again/));
  await server.start();
  await brings(child, all + 499, () => count('broken'));
  expect(await child.end('SIGTERM')).toBe(0);
  await expectAll('broken');
}, 120_000);

test('S4.8 a server that refuses ends the export, with the reason and without the password', async () => {
  const refused = async (url: string) => {
    const child = run(['--to', url]);
    expect(await child.exited).toBe(1);
    expect(child.output()).not.toContain('hunter2');
    return child.output();
  };
  const at = `--url: MySQL at 127.0.0.1:${server.port} answers`;
  expect(await refused(server.url('olga:hunter2@'))).toContain(`${at} "Access denied for user 'olga'`);
  expect(await refused(server.url().replace('/events', '/elsewhere'))).toContain(
    `${at} "Access denied for user 'olga'`,
  );
});

test('S4.8 S4.10 what is erased at Docket has no data in the table after the next run', async () => {
  await erased(['--to', server.url(), '--table', 'erased'], 'erased-1');
  const found = (await rows('erased')).filter(({ itemId }) => itemId === 'erased-1');
  expect(found.map(({ type }) => type)).toEqual(['created', 'noted', 'decided', 'erased']);
  expect(JSON.stringify(found)).not.toContain('private');
  await expectAll('erased');
});
