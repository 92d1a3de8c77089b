import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadStatements, readStatements } from '../../db/load.ts';
import { bounded } from '../../db/pages.ts';
import { valuesOf } from '../../db/pool.ts';
import { statementsText } from '../../scripts/statements.ts';
import { connected, openTestDb } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl: url } = await testStores();
const client = await connected(url);
const one = (text: string, marks = '') => readStatements([`-- name: it ${marks}\n${text}`])[0]!;

describe('A statement as it is written', () => {
  test('has its parameters numbered by their first appearance, each once', () => {
    const { text, parameters } = one('select :b, :a where x = :b;');
    expect(text).toBe('select $1, $2 where x = $1');
    expect(parameters.map((p) => p.name)).toEqual(['b', 'a']);
  });

  test.each([
    ['casts', 'select a::text, b::timestamptz[]'],
    ['strings', "select ':a', 'it''s :b', '::' || ':c'"],
    ['quoted names', 'select ":a"'],
    ['comments', '-- what :a is\nselect 1 /* and :b,\n:c */'],
    ['named arguments', 'select f(a := 1)'],
    ['positions', 'select $1::text'],
  ])('keeps its %s', (_, written) => {
    expect(one(written)).toMatchObject({ text: written, parameters: [] });
  });

  test('sees a parameter right behind any of them', () => {
    expect(one("select a::text=:a, ':x'||:b, :c::text -- :d").text).toBe("select a::text=$1, ':x'||$2, $3::text -- :d");
  });

  test('takes the columns of a list, which may have another list in it, for itself or for a row', () => {
    const lists = '-- columns: published\n-- Why.\nkind, id\n\n-- columns: shown\n{published},\nbody\n';
    const [it] = readStatements(["-- name: it\nselect {shown}, '{shown}', {i.published} from item i;", lists]);
    expect(it?.text).toBe("select kind, id, body, '{shown}', i.kind, i.id from item i");
    expect(() => one('select {unknown}')).toThrow('no list of columns is named unknown');
  });

  test('may leave parameters out, send JSON and carry marks', () => {
    const it = one(
      '-- not null: state\nselect :a?::text is null or x = :a as "n!", :b::json, :c?::jsonb, :d::json[]',
      ':moves',
    );
    expect(it.text).toContain('select $1::text is null or x = $1 as "n", $2::json, $3::jsonb, $4::json[]');
    expect(it.parameters).toEqual([
      { name: 'a', optional: true, json: false },
      { name: 'b', optional: false, json: true },
      { name: 'c', optional: true, json: true },
      { name: 'd', optional: false, json: false },
    ]);
    expect(it).toMatchObject({ moves: true, notNull: ['state', 'n'] });
  });
});

describe('The values of a statement', () => {
  const it = one('select :a, :b?, :c::json, :d?::json');

  test('are those of its parameters, in their order', () => {
    expect(valuesOf(it, { d: [1], c: 'x', b: 2, a: 1 })).toEqual([1, 2, '"x"', '[1]']);
  });

  test('are null where they are left out; a null that is sent as JSON is null in JSON', () => {
    expect(valuesOf(it, { a: 1, c: null })).toEqual([1, null, 'null', null]);
    expect(valuesOf(it, { a: 1, b: null, c: {}, d: null })).toEqual([1, null, '{}', null]);
  });

  test('must be there, or the statement and the parameter are named', () => {
    expect(() => valuesOf(it, { a: 1 })).toThrow('statement it needs the parameter c');
  });
});

describe('Against a fresh database', () => {
  test('every statement prepares', async () => {
    for (const { name, text } of loadStatements().values())
      await client.query(`prepare "${name}" as ${bounded(text)}`).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`);
      });
  });

  test('every function compiles with its body checked', async () => {
    const folder = new URL('../../db/functions/', import.meta.url);
    await client.query('begin; set local check_function_bodies = on');
    for (const file of readdirSync(folder))
      await client.query(readFileSync(new URL(file, folder), 'utf8')).catch((error: Error) => {
        throw new Error(`${file}: ${error.message}`);
      });
    await client.query('rollback');
  });

  test('a statement is not run without its parameters, and by its type not as one that changes no items if it does', async () => {
    const db = openTestDb(url);
    // @ts-expect-error: ids are missing
    await expect(db.run('get_items', { kind: 'job' })).rejects.toThrow('statement get_items needs the parameter ids');
    expect(await db.run('get_items', { kind: 'job', ids: ['none'] })).toEqual([]);
    // @ts-expect-error: it moves items
    expect(await db.run('renew_items', { kind: 'job', ids: [], tokens: [], subjects: [] })).toEqual([]);
    expect(await db.move('renew_items', { kind: 'job', ids: [], tokens: [], subjects: [] })).toEqual([]);
  });

  test('a table that gets a column while the process runs has it in the rows of new connections, and nothing is mixed up', async () => {
    const name = 'grown';
    const queue = async () => (await openTestDb(url).run('get_queue', { kind: 'ticket', name }))[0];
    await client.query('insert into queue (kind, name, max_held) values ($1, $2, 7)', ['ticket', name]);
    const before = await queue();
    expect(before).toMatchObject({ kind: 'ticket', name, max_held: 7, deleted_at: null, updated_at: expect.any(Date) });
    await client.query("alter table queue add column extra text default 'new'");
    expect(await queue()).toEqual({ ...before, extra: 'new' });
    await client.query('alter table queue drop column extra');
    expect(await queue()).toEqual(before);
  });

  test('what changes items or reviews must be marked, also through a function, and nothing else', async () => {
    const types = (text: string, marks?: string) => statementsText(client, [one(text, marks)], new Set());
    await expect(types('delete from item where id = :id')).rejects.toThrow('it changes items or reviews');
    await expect(types('select * from tick(:limit)')).rejects.toThrow('it changes items or reviews');
    await expect(types('select * from put_review(:a, :b, :c, :d, :e)')).rejects.toThrow('it changes items or reviews');
    await expect(types('select * from item', ':moves')).rejects.toThrow('it changes no item or review');
  });

  test('types are those of the database', async () => {
    const types = async (text: string, marks?: string) =>
      /^ {2}it: (.*);$/m.exec(await statementsText(client, [one(text, marks)], new Set()))?.[1];
    expect(await types('select * from queue where kind = :kind')).toBe('{ params: { kind: string }; row: QueueRow }');
    expect(await types('select * from tick(:limit)', ':moves')).toBe(
      '{ params: { limit: number }; row: ItemRow; moves: true }',
    );
    expect(await types('select count(*) as "n!", max(seq) as m, cron from schedule group by cron')).toBe(
      '{ params: {}; row: { n: number; m: number | null; cron: string | null } }',
    );
    expect(await types('select d.n from queue q left join delivery d on d.queue = q.name')).toBe(
      '{ params: {}; row: { n: number | null } }',
    );
    await expect(types('insert into schedule (topic, name, body, ttr) values (:a, :b, :c, 1)')).rejects.toThrow(
      'write :c::json',
    );
  });
});
