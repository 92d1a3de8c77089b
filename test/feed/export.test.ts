import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { FeedEvent } from '../../contract/feed.ts';
import type { Role } from '../../contract/keys.ts';
import { startExport } from '../support/child.ts';
import { docket, expectFailure } from '../support/cli.ts';
import { eventually, type Json, ndjson } from '../support/client.ts';
import { wholeFeed } from '../support/feed.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';
import { type ElasticsearchServer, startElasticsearch } from './elasticsearch.ts';
import { startFeed } from './exports.ts';

const { api, sql, db, stores, erased, addSome, made, run, finish, killedAgainAndAgain } = await startFeed();
const dir = mkdtempSync(join(inject('dir'), 'export-'));
for (const count of [1_000, 1_000]) await addSome(count);

const sorted = (all: Json[]) => [...all].sort((a, b) => a.seq - b.seq);

describe('to a file', () => {
  const file = join(dir, 'events.ndjson');
  const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const lines = (): FeedEvent[] => ndjson(text());

  test('S4.8 killed with -9 again and again, it has every event once, in order', async () => {
    await killedAgainAndAgain(['--to', 'file', '--file', file], async () => text().split('\n').length - 1);
    expect(lines()).toEqual(await wholeFeed(api));
  }, 120_000);

  test('S4.8 a torn last line is cut off, and nothing new is nothing written', async () => {
    const whole = text();
    await finish(['--to', 'file', '--file', file]);
    expect(text()).toBe(whole);
    appendFileSync(file, '{"seq":99999999,"id":"tick');
    await addSome(5);
    expect(await finish(['--to', 'file', '--file', file])).toContain(' 5 events');
    expect(lines()).toEqual(await wholeFeed(api));
    expect(text().startsWith(whole)).toBe(true);
  });

  test('S4.8 a file that is none of this feed is left alone', async () => {
    const other = join(dir, 'other.ndjson');
    const [first] = await wholeFeed(api);
    const wrong = {
      'a letter\n': 'no event of a feed',
      [`${JSON.stringify({ ...first, id: 'ticket/elsewhere/1' })}\n`]: 'filled from another feed',
      [`${JSON.stringify({ ...first, seq: 10_000_000 })}\n`]: 'filled from another feed',
    };
    for (const [content, said] of Object.entries(wrong)) {
      writeFileSync(other, content);
      const child = run(['--to', 'file', '--file', other]);
      expect([await child.exited, child.output()]).toEqual([1, expect.stringContaining(said)]);
      expect(readFileSync(other, 'utf8')).toBe(content);
    }
  });

  test('S4.8 SIGTERM ends an export that follows, with all of it written', async () => {
    const child = run(['--to', 'file', '--file', file, '--follow']);
    await addSome(3);
    await eventually(async () => lines().length === made());
    expect(await child.end('SIGTERM')).toBe(0);
    expect(child.output()).toContain(`up to position ${made()}`);
    expect(lines()).toEqual(await wholeFeed(api));
  });
});

describe('to PostgreSQL', () => {
  const args = ['--to', 'postgres', '--url', stores.databaseUrl, '--table', 'copied'];
  const rows = () =>
    sql(`select seq::int, id, kind, item_id as "itemId", type, actor, at, data from copied order by seq`);
  const count = async () => {
    const [there] = await sql(`select to_regclass('copied') is not null as made`);
    return there?.made ? Number((await sql('select count(*) as n from copied'))[0]?.n) : 0;
  };

  test('S4.8 killed with -9 again and again, the table has every event once, and the position fits', async () => {
    await killedAgainAndAgain(args, count);
    const copied: Json[] = (await rows()).map((row) => ({ ...row, at: row.at.toISOString() }));
    expect(copied).toEqual(await wholeFeed(api));
    expect(await sql('select seq::int, id from copied_position')).toEqual([{ seq: made(), id: copied.at(-1)?.id }]);
  }, 120_000);

  test('S4.8 events that are there already are replaced, not doubled', async () => {
    const before = await rows();
    await sql(`update copied_position set seq = 100, id = (select id from copied where seq = 100)`);
    await sql(`update copied set actor = 'nobody' where seq = 200`);
    await finish(args);
    expect(await rows()).toEqual(before);
  });
});

describe('to Elasticsearch', () => {
  const INDEX = 'docket-events';
  const exportTo = ({ url }: ElasticsearchServer) => ['--to', 'elasticsearch', '--url', url];
  const expectAll = async (server: ElasticsearchServer) => {
    const whole = await wholeFeed(api);
    expect(sorted([...server.sources(INDEX).values()])).toEqual(whole);
    expect([...server.sources(INDEX)].every(([id, source]) => id === source.id)).toBe(true);
    const { seq, id } = whole.at(-1) as FeedEvent;
    expect(server.sources(`${INDEX}-position`).get('position')).toEqual({ seq, id });
  };

  test('S4.8 killed with -9 while a bulk is under way: every event is there once', async () => {
    const server = await startElasticsearch();
    // the events are stored, and the answer takes its time: that is when the kill comes
    server.trouble = () => ({ ms: 150 });
    await killedAgainAndAgain(exportTo(server), async () => server.sources(INDEX).size);
    await expectAll(server);
    const again = [...(server.indices.get(INDEX)?.documents.values() ?? [])].filter((d) => d.version > 1);
    expect(again.length).toBeGreaterThan(0);
    expect(server.indices.get(INDEX)?.settings.mappings.properties.data).toEqual({ type: 'object', enabled: false });
  }, 120_000);

  test('S4.8 what a busy cluster puts off, in whole or in part, is sent again and nothing is skipped', async () => {
    const server = await startElasticsearch();
    server.trouble = (n) => ({ what: n === 1 ? 'busy' : n < 5 ? 'partly' : null });
    const { host } = new URL(server.url);
    const output = await finish(['--to', 'elasticsearch', '--url', `http://olga:p%40ss@${host}`]);
    expect(output).toContain('answered 429: rejected execution');
    await expectAll(server);
    expect([...server.authorizations]).toEqual([`Basic ${Buffer.from('olga:p@ss').toString('base64')}`]);
    expect(output).not.toContain('p%40ss');
  });

  test('S4.8 an event that is refused for good ends the export, loudly and before its position', async () => {
    const server = await startElasticsearch();
    server.trouble = () => ({ what: 'refuses' });
    const child = run(exportTo(server));
    expect(await child.exited).toBe(1);
    expect(child.output()).toMatch(/docket-events refuses ticket\/t\d+\/\d+\/1: 400 document_parsing_exception: /);
    expect(server.sources(`${INDEX}-position`).size).toBe(0);
    server.trouble = () => ({});
    await finish(exportTo(server));
    await expectAll(server);
  });

  test('S3.2 S4.8 events of a job whose id is longer than a document id may be', async () => {
    const server = await startElasticsearch();
    const id = '中'.repeat(200);
    await api.post('/v1/jobs', { command: 'add', topic: id, id, body: 1 });
    await api.post('/v1/jobs', { command: 'delete', id });
    await finish(exportTo(server));
    await finish(exportTo(server));
    const documents = [...(server.indices.get(INDEX)?.documents ?? [])].filter(([, d]) => d.source.itemId === id);
    expect(documents.map(([, d]) => d.source.id.replace(/\d+(?=\/\d+$)/, 'no'))).toEqual([
      `job/${id}/no/1`,
      `job/${id}/no/2`,
    ]);
    expect(sorted([...server.sources(INDEX).values()])).toEqual(await wholeFeed(api));
  });
});

describe('the command', () => {
  const file = join(dir, 'command.ndjson');
  const toFile = ['--to', 'file', '--file', file];

  test('S4.8 a key that the server does not take, and a server that is not there', async () => {
    const closed = await startTestSystem({ DOCKET_AUTH: 'keys' }, { role: 'api', stores });
    const keyOf = async (role: Role) => (await createKey(db, { name: role, role, subject: null })).key;
    const from = ['--from', closed.api.url];
    const { url } = closed.api;
    for (const [args, env, ...said] of [
      [from, {}, `DOCKET_KEY: ${url} answered 401: send Authorization`, 'docket key create --role'],
      [from, { DOCKET_KEY: 'hunter2' }, `DOCKET_KEY: ${url} answered 401: `, 'docket key create --role'],
      [from, { DOCKET_KEY: await keyOf('agent') }, `DOCKET_KEY: ${url} answered 403: `, 'docket key create --role'],
      [[...from, '--key', 'nonsense'], {}, '401'],
      [[], { DOCKET_URL: url }, `DOCKET_KEY: ${url} answered 401: `],
      [['--from', 'http://127.0.0.1:9'], {}, /cannot be reached.*after 8 tries/s],
    ] as const)
      expectFailure(await docket(['export', ...toFile, ...args], { ...env }), 'docket export: ', ...said);
    expect(await startExport([...toFile, ...from], { DOCKET_KEY: await keyOf('producer') }).exited).toBe(0);
  }, 90_000);
});

// last: what erasures add is not counted
test('S4.8 S4.10 what is erased at Docket has no data at the target after the next run', async () => {
  const elasticsearch = await startElasticsearch();
  await erased(['--to', 'postgres', '--url', stores.databaseUrl, '--table', 'erased_events'], 'erased-1');
  const rows = await sql(`select type, data from erased_events where item_id = 'erased-1' order by seq`);
  await erased(['--to', 'elasticsearch', '--url', elasticsearch.url], 'erased-2');
  const documents = sorted([...elasticsearch.sources('docket-events').values()].filter((d) => d.itemId === 'erased-2'));
  for (const found of [rows, documents]) {
    expect(found.map(({ type }) => type)).toEqual(['created', 'noted', 'decided', 'erased']);
    expect(JSON.stringify(found)).not.toContain('private');
  }
});
