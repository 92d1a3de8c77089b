import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let dir: string;
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
};
const run = (file = 'cli/docket.mjs') => execFileSync(process.execPath, [join(dir, file)], { encoding: 'utf8' }).trim();

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'docket-compiled-'));
  for (const file of [
    'cli/docket.mjs',
    'cli/servers/compiled.mjs',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ])
    cpSync(file, join(dir, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(dir, 'node_modules'));
  write('package.json', '{"type":"module"}');
  write('cli/main.ts', "const from: string = 'sources'; console.log(from);");
  write('dist/cli/main.js', "console.log('compiled');");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('compiled code runs only while it is of the very sources that are there', () => {
  expect(run(), 'a dist/ that is not whole').toBe('sources');
  const hash = `import { sourceHash } from './cli/servers/compiled.mjs'; process.stdout.write(sourceHash());`;
  write('hash.mjs', hash);
  write('dist/sources', run('hash.mjs'));
  expect(run()).toBe('compiled');
  write('db/queries/new.sql', 'select 1;');
  expect(run(), 'a statement more').toBe('sources');
  rmSync(join(dir, 'db'), { recursive: true });
  expect(run()).toBe('compiled');
  write('cli/main.ts', "const from: string = 'changed sources'; console.log(from);");
  expect(run()).toBe('changed sources');
});

test('compiled code runs by itself, as in the image', () => {
  cpSync(join(dir, 'cli/docket.mjs'), join(dir, 'dist/cli/docket.mjs'));
  cpSync(join(dir, 'cli/servers/compiled.mjs'), join(dir, 'dist/cli/servers/compiled.mjs'));
  expect(run('dist/cli/docket.mjs')).toBe('compiled');
});
