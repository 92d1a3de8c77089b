import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { ownFolder } from '../support/own.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { pythonKit } from './kits.ts';
import { testClient } from './scenarios/all.ts';

const kit = pythonKit(inject('cacheDir'));
const system = await startTestSystem();
testClient(system, await startTestSystem({}, { role: 'api' }), kit);

/** What Python prints when run in the client's folder. */
function python(...args: string[]): string {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout, stderr } = spawnSync(kit.command[0] ?? '', args, { encoding: 'utf8', cwd: 'clients/python', env });
  return stdout + stderr;
}

test('S3.5 its types are right', () => {
  const options = ['--cache-dir', '/dev/null', '--config-file', 'pyproject.toml'];
  expect(python('-m', 'mypy', ...options, 'src')).toContain('Success: no issues');
});

test('S3.5 Python 3.9 can read it', () => {
  const each = 'for p in pathlib.Path("src").rglob("*.py")';
  expect(python('-c', `import ast, pathlib; [ast.parse(p.read_text(), feature_version=(3, 9)) ${each}]`)).toBe('');
});

const dir = ownFolder('python-package');
const installed = join(dir, 'venv', 'bin', 'python');
const programs = import.meta.dirname;

/** What a command prints, away from the sources. */
async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: dir, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 };
  return (await promisify(execFile)(command, args, options)).stdout;
}

const pip = (...args: string[]) => run(installed, ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...args]);
// the wheel, built as it would be published, in an environment with nothing but it and what the README's examples need
beforeAll(async () => {
  const sources = join(dir, 'sources');
  mkdirSync(sources);
  for (const name of ['src', 'README.md', 'pyproject.toml'])
    cpSync(join('clients', 'python', name), join(sources, name), { recursive: true });
  await run('python3', ['-m', 'venv', join(dir, 'venv')]);
  await pip('wheel', '--no-deps', '--wheel-dir', join(dir, 'wheels'), sources);
  const wheels = readdirSync(join(dir, 'wheels'));
  expect(wheels).toEqual(['docket_client-0.2.0-py3-none-any.whl']);
  rmSync(sources, { recursive: true });
  await pip('install', join(dir, 'wheels', wheels[0] ?? ''), 'psycopg[binary]');
  for (const [n, example] of kit.examples.entries()) writeFileSync(join(dir, `example_${n}.py`), example);
}, 300_000);

test('S3.5 the built package, installed by itself, adds, claims and decides', async () => {
  const used = JSON.parse(await run(installed, [join(programs, 'installed.py'), system.api.url]));
  expect(used).toEqual({ states: ['decided'], folder: expect.stringContaining(join(dir, 'venv')), typed: true });
  expect((await system.api.get('/v1/tickets/installed-1')).body.decision).toEqual({ ok: true });
});

test("S3.5 programs that use the built package, the README's among them, have their types checked", async () => {
  writeFileSync(join(dir, 'wrong.py'), 'from docket_client import Client\nClient("u").tickets.get(1).attempts + "x"\n');
  const examples = kit.examples.map((_, n) => `example_${n}.py`);
  const options = ['--strict', '--cache-dir', join(dir, 'cache'), '--python-executable', installed];
  const mypy = ['-m', 'mypy', ...options, join(programs, 'installed.py'), ...examples, 'wrong.py'];
  const { stdout } = await run(kit.command[0] ?? '', mypy).then(
    () => ({ stdout: '' }),
    (error) => error,
  );
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^wrong.py:2: error: .* incompatible type "int"; expected "str"/),
    expect.stringMatching(/^wrong.py:2: error: Unsupported operand types for \+/),
    expect.stringMatching(/^Found 2 errors in 1 file/),
  ]);
}, 180_000);

test('S0.10 of forty of one callback at two processes, over SQL as the README has it, one is handled', async () => {
  await system.sql('create table docket_version (item text primary key, version bigint not null)');
  await system.sql('create table verdict (ticket text)');
  const module = `example_${kit.examples.findIndex((example) => example.includes('class SqlVersions'))}`;
  const env = { DATABASE_URL: system.databaseUrl, DOCKET_CALLBACK_SECRET: SECRET, PYTHONPATH: dir };
  const received = () => run(installed, [join(programs, 'rush.py'), module, '20'], env).then(JSON.parse);
  const outcomes = (await Promise.all([received(), received()])).flat();
  expect(outcomes.toSorted()).toEqual(['handled', ...Array(39).fill('repeated')]);
  expect(await system.sql('select * from verdict')).toEqual([{ ticket: 'rush-1' }]);
  expect(await system.sql('select * from docket_version')).toEqual([{ item: 'ticket/rush-1', version: '5' }]);
});
