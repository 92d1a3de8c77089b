import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { differences } from '../../scripts/architecture/drift.ts';
import { checkImports } from '../../scripts/architecture/imports.ts';
import { checkRooms, type Import } from '../../scripts/architecture/rooms.ts';
import { checkBundle, checkColumns, checkSizes, checkSql, checkWords } from '../../scripts/architecture/rules.ts';
import { readSource } from '../../scripts/architecture/source.ts';
import { checkReading } from '../../scripts/reading.ts';
import { repeat } from '../support/client.ts';

// `npm run check` is only worth something if it can fail: each rule gets what it must refuse.

const lines = (n: number) => repeat(n, (i) => `x(${i});`).join('\n');

/** Checks the imports of a tree of these files and of whatever they import. */
async function check(files: Record<string, string>): Promise<string[]> {
  const dir = mkdtempSync(join(inject('dir'), 'imports-'));
  const append = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    appendFileSync(join(dir, path), text);
  };
  for (const [path, text] of Object.entries(files)) {
    append(path, text);
    for (const [, to = ''] of text.matchAll(/'(\.[^']+)'/g)) append(join(dirname(path), to), '');
  }
  return checkImports(Object.keys(files), dir);
}

describe('imports follow the flow', () => {
  const imports = (path: string, text: string) => check({ [path]: text });

  test.each([
    ['db/items.ts', `import { Follower } from '../runtime/followers/follower.ts';`],
    ['domain/items.ts', `import { getItem } from '../db/items.ts';`],
    ['domain/items.ts', `import type { Row } from '../db/items.ts';`],
    ['runtime/followers/sender.ts', `import { createApp } from '../../api/app.ts';`],
    ['api/tickets/get.ts', `import { post } from '../../activities/webhook.ts';`],
    ['api/tickets/get.ts', `import { getItem } from '../../db/items.ts';`],
    [
      'api/tickets/get.ts',
      `import type { Row } from '../../db/items.ts'; import { getItem } from '../../db/items.ts';`,
    ],
    ['api/tickets/get.ts', `import { view } from '../cases/view.ts';`],
    ['api/views.ts', `import { view } from './cases/view.ts';`],
    ['activities/items.ts', `export { startWorker } from '../worker/worker.ts';`],
    ['worker/worker.ts', `export * from '../api/app.ts';`],
    ['services/tickets.ts', `import type { Services } from './services.ts';`],
    ['runtime/start.ts', `const run = await import('../cli/run.ts');`],
    ['cli/servers/ports.ts', `import { run } from '../run.ts';`],
    ['test/cli.test.ts', `import { run } from '../cli/run.ts';`],
  ])('%s may not: %s', async (path, text) => {
    expect(await imports(path, text)).toHaveLength(1);
  });

  test.each([
    [
      'api/tickets/get.ts',
      `import { tickets } from '../../services/tickets/tickets.ts'; import { page } from '../views.ts';`,
    ],
    ['api/tickets/get.ts', `import type { Row } from '../../db/items.ts';`],
    ['api/nouns.ts', `import { view } from './cases/view.ts';`],
    ['cli/process.ts', `import { createApp } from '../api/app.ts'; import pg from 'pg';`],
    ['cli/docket.mjs', `await import('./main.ts');`],
    ['test/api.test.ts', `import { startPostgres } from '../cli/servers/postgres.ts';`],
  ])('%s may: %s', async (path, text) => {
    expect(await imports(path, text)).toEqual([]);
  });

  test('workflows take types from contract and activities, and values from domain only', async () => {
    const path = 'workflows/items.ts';
    expect(await imports(path, `import type { ItemActivities } from '../activities/items.ts';`)).toEqual([]);
    expect(await imports(path, `import { type ItemActivities } from '../activities/items.ts';`)).toEqual([]);
    expect(await imports(path, `import { isFinal } from '../domain/items.ts';`)).toEqual([]);
    expect(await imports(path, `import { itemActivities } from '../activities/items.ts';`)).toEqual([
      `${path} → activities/items.ts: workflows/ may import types of contract, activities only: write \`import type\``,
    ]);
    expect(await imports(path, `import '../contract/tickets.ts';`)).toHaveLength(1);
    expect(await imports(path, `import type { Db } from '../db/pool.ts';`)).toHaveLength(1);
  });

  test('no circles, not even of types or inside a folder', async () => {
    const circle = await check({
      'api/tickets/a.ts': `import type { B } from './b.ts'; export type A = B;`,
      'api/tickets/b.ts': `import { a } from './c.ts'; export type B = typeof a;`,
      'api/tickets/c.ts': `export { a } from './a.ts';`,
    });
    const path = 'api/tickets/a.ts → api/tickets/b.ts → api/tickets/c.ts → api/tickets/a.ts';
    expect(circle).toEqual([`${path}: a circle: move what both need to a third file`]);
  });

  test('a folder that the flow does not know is asked for its place', async () => {
    const asked = ['utils/x.ts: the folder has no place in the flow: give it one in scripts/architecture/imports.ts'];
    expect(await imports('utils/x.ts', '')).toEqual(asked);
    expect(await imports('utils/x.ts', `import { x } from 'hono';`)).toHaveLength(1);
    expect(await imports('vitest.config.ts', '')).toEqual([]);
  });

  test('packages stay where they belong', async () => {
    for (const [folder, text] of [
      ['workflows', `import { readFileSync } from 'node:fs';`],
      ['domain', `import { z } from 'zod';`],
      ['contract', `import pg from 'pg';`],
      ['db', `import { Hono } from 'hono';`],
    ] as const)
      expect(await imports(`${folder}/items.ts`, text), folder).toHaveLength(1);
    expect(await imports('workflows/items.ts', `import { sleep } from '@temporalio/workflow';`)).toEqual([]);
  });
});

describe('rooms of services', () => {
  /** `a>b`: a file of room a imports one of room b. */
  const rooms = (...arrows: string[]) =>
    checkRooms(
      arrows.map((arrow): Import => {
        const [from, to] = arrow.split('>');
        return { from: `services/${from}/a.ts`, to: `services/${to}/b.ts` };
      }),
    );
  const letters = [...'abcdefghijkl'];

  test('import each other without a circle', () => {
    expect(rooms('doctor>jobs', 'jobs>items', 'items>shared', 'jobs>jobs')).toEqual([]);
    expect(rooms('jobs>items', 'items>cases', 'cases>jobs')).toEqual([
      'services/: rooms in a circle, jobs → items → cases → jobs: move what both need to a lower room',
    ]);
  });

  test('stand on the shared one', () => {
    expect(rooms('shared>items')).toEqual(['services/shared imports services/items: shared is the lowest']);
  });

  test('are few, on few floors, with few arrows', () => {
    expect(rooms('a>b', 'b>c', 'c>d', 'd>e')).toEqual([]);
    expect(rooms('a>b', 'b>c', 'c>d', 'd>e', 'e>f')).toEqual(['services/ has 6 floors; at most 5']);
    const all = letters.map((letter) => `${letter}>shared`);
    expect(rooms(...all.slice(1))).toEqual([]);
    expect(rooms(...all)).toEqual(['services/ has 13 rooms; at most 12']);
    // each of six rooms imports each of five others
    const crossed = letters.slice(0, 6).flatMap((letter) => letters.slice(6, 11).map((other) => `${letter}>${other}`));
    expect(rooms(...crossed)).toEqual([]);
    expect(rooms(...crossed, 'a>l')).toEqual(['services/ has 31 arrows between rooms; at most 30']);
  });

  test('are found in the files that import each other', async () => {
    const found = await check({
      'services/a/one.ts': `import { b } from '../b/one.ts'; export const a = b;`,
      'services/a/two.ts': 'export const two = 2;',
      'services/b/one.ts': `import { two } from '../a/two.ts'; export const b = two;`,
    });
    expect(found).toEqual(['services/: rooms in a circle, a → b → a: move what both need to a lower room']);
  });
});

describe('sizes', () => {
  const sizes = (text: string) => checkSizes(readSource('api/x.ts', text));

  test('a file has 300 lines at most', () => {
    expect(sizes(`${lines(300)}\n`)).toEqual([]);
    expect(sizes(`${lines(301)}\n`)).toEqual(['api/x.ts has 301 lines; at most 300']);
  });

  test('a function has 70 lines at most, whatever its form', () => {
    expect(sizes(`function f() {\n${lines(68)}\n}`)).toEqual([]);
    expect(sizes(`function f() {\n${lines(69)}\n}`)).toEqual(['api/x.ts:1 f has 71 lines; at most 70']);
    expect(sizes(`const g = async () => {\n${lines(69)}\n};`)).toEqual(['api/x.ts:1 g has 71 lines; at most 70']);
    expect(sizes(`class K {\n  m() {\n${lines(69)}\n  }\n}`)).toEqual(['api/x.ts:2 m has 71 lines; at most 70']);
    expect(sizes(`run(() => {\n${lines(69)}\n});`)).toHaveLength(1);
  });

  test('a group of tests may be long, one test may not', () => {
    expect(sizes(`describe('x', () => {\n${lines(90)}\n});`)).toEqual([]);
    expect(sizes(`test('x', () => {\n${lines(90)}\n});`)).toHaveLength(1);
  });

  test('a line of SQL has 120 columns at most, except in migrations of earlier releases', () => {
    const text = `select 1;\n-- ${'x'.repeat(118)}\n`;
    for (const path of ['db/functions/x.sql', 'db/queries/x.sql', 'db/migrations/0082_x.sql']) {
      expect(checkColumns(path, text)).toEqual([`${path}:2 has 121 columns; at most 120`]);
      expect(checkColumns(path, text.replace('xx', 'x'))).toEqual([]);
    }
    for (const path of ['db/migrations/0081_x.sql', 'db/schema.sql']) expect(checkColumns(path, text)).toEqual([]);
  });
});

test('SQL stands in db/ only', () => {
  const sql = (path: string, text: string) => checkSql(readSource(path, text));
  for (const statement of [
    "'select * from item'",
    `\`select id\nfrom item where id = $\{1}\``,
    "'insert into item values (1)'",
    "'UPDATE item SET state = 1'",
    "'delete from unpublished'",
    "'select tick(1)'",
  ])
    expect(sql('api/x.ts', `run(${statement})`), statement).toHaveLength(1);
  expect(sql('db/x.ts', `run('select 1 from item')`)).toEqual([]);
  expect(sql('api/x.ts', `say('select one of them', 'updates are set apart', 'deleted from here')`)).toEqual([]);
});

test('nothing is left to do in a comment', () => {
  const words = (comment: string) => checkWords(readSource('api/x.ts', `${comment}\nf();`));
  expect(words('// TODO: the rest')).toEqual(['api/x.ts:1 a comment says "TODO"']);
  expect(words('/* FIXME */')).toHaveLength(1);
  expect(words('// a todo list is what users keep')).toEqual([]);
  expect(checkWords(readSource('api/x.ts', `f('TODO');`))).toEqual([]);
});

test('a workflow bundle holds nothing but workflows and what the SDK needs', () => {
  const bundle = (...modules: string[]) => checkBundle(modules.map((m) => `/***/ "${m}"\n`).join(''));
  const good = [
    './workflows/index.ts',
    './domain/items.ts',
    './node_modules/@temporalio/workflow/lib/index.js',
    '?2065',
  ];
  expect(bundle(...good)).toEqual([]);
  const packages = ['zod', 'pg', 'hono', 'ipaddr.js'].map((name) => `./node_modules/${name}/lib/index.js`);
  for (const bad of [...packages, './db/items.ts', 'node:fs'])
    expect(bundle(...good, bad)).toEqual([`the workflow bundle contains ${bad}`]);
  expect(checkBundle('minified')).toHaveLength(1);
});

test('drift is said with the line where it begins', () => {
  expect(differences('a.json', '1\n2\n3\n', '1\n2\n3\n')).toEqual([]);
  expect(differences('a.json', '1\n2\n3\n', '1\nx\n3\n')).toEqual(['a.json:2 is "2", should be "x"']);
  expect(differences('a.json', '1\n2\n', '1\n')).toHaveLength(1);
  expect(differences('a.json', '', '1\n')).toHaveLength(1);
});

describe('the reading list', () => {
  const code: Record<string, string> = {
    'a.ts':
      '/** Adds. */\nexport function add() {\n  return 1;\n}\n\nexport class Box {\n  open() {\n    return 2;\n  }\n}\n',
    'b.sql': '-- name: one\nselect 1;\n\n-- name: two\nselect\n  2;\n',
    'long.ts': 'x();\n'.repeat(2_001),
  };
  const document = (row: string, total: string) => `| # | read |\n${row} what for |\n\nTogether: ${total} lines.\n`;
  const check = (row: string, total = '4') => checkReading(document(row, total), (path) => code[path] ?? '');

  test('counts a function with its comment, a method, a statement and a file', () => {
    expect(check('| 1 | `a.ts` `add` | 4 |')).toEqual([]);
    expect(check('| 1 | `a.ts` `Box.open` | 3 |', '3')).toEqual([]);
    expect(check('| 1 | `b.sql` `two` | 3 |', '3')).toEqual([]);
    expect(check('| 1 | `a.ts` | 10 |', '10')).toEqual([]);
  });

  test('refuses a wrong count, a missing name and more than 2,000 lines in all', () => {
    expect(check('| 1 | `a.ts` `add` | 5 |')).toMatchObject([expect.stringContaining('should be')]);
    expect(() => check('| 1 | `a.ts` `gone` | 4 |')).toThrow('a.ts has no gone');
    expect(check('| 1 | `long.ts` | 2001 |', '2,001')).toEqual(['docs/READING.md: 2001 lines; at most 2000']);
  });
});
