import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { docket, docketHere, type Ended, folder, ROOT, run } from '../support/cli.ts';
import { lastingPort } from '../support/ports.ts';

// a program for each call, and machines that are shared stall for seconds
vi.setConfig({ testTimeout: 200_000 });

/** The names under `Commands:` of a help text. */
const commandsIn = (help: string) =>
  [...(/^Commands:\n((?: {2}.*\n)+)/m.exec(help)?.[1] ?? '').matchAll(/^ {2}(\w+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');

/** Prints at the end which of these packages the program has loaded. */
const PRELOAD = `
import { createRequire } from 'node:module';
import { writeSync } from 'node:fs';
process.on('exit', () => {
  const files = Object.keys(createRequire(import.meta.url).cache).join(' ');
  for (const name of ['commander', 'pg', '@temporalio'])
    if (files.includes('/node_modules/' + name + '/')) writeSync(2, 'loaded ' + name + '\\n');
});`;

describe('help', () => {
  const helps = new Map<string, Ended>();

  beforeAll(async () => {
    const look = async (path: string[]): Promise<void> => {
      const help = await docketHere([...path, '--help']);
      helps.set(path.join(' '), help);
      for (const name of commandsIn(help.stdout)) await look([...path, name]);
    };
    await look([]);
  });

  test('every command has one, with a description, its options, its environment and examples', () => {
    expect([...helps.keys()].sort()).toEqual([
      ...['', 'api', 'doctor', 'dump', 'erase', 'export', 'key', 'key create', 'key list', 'key revoke'],
      ...['load', 'migrate', 'outbox', 'outbox follow', 'outbox install', 'reconcile', 'reseal', 'start', 'worker'],
    ]);
    for (const [path, { code, stdout, stderr }] of helps) {
      expect([path, code, stderr]).toEqual([path, 0, '']);
      const line = `docket${path && ` ${path}`}`;
      expect(stdout).toMatch(new RegExp(`^Usage: ${line}( \\S+)*\n\n\\S.*\n`));
      expect(stdout).toMatch(/^ {2}-h, --help +print this help and do nothing else$/m);
      expect(stdout).toMatch(new RegExp(`^Examples:\n {2}# .+\n {2}.*${line} ?`, 'm'));
      for (const text of stdout.split('\n')) expect(text.length, text).toBeLessThanOrEqual(120);
    }
    expect(helps.get('key create')?.stdout).toMatch(
      /"producer",\s+"reviewer",\s+"agent",\s+"consumer",\s+"supervisor",\s+"model",\s+"admin"/,
    );
    expect(helps.get('export')?.stdout).toMatch(/"file",\s+"postgres",\s+"mysql",\s+"elasticsearch",\s+"kafka"/);
  });

  test('a reader of its output who leaves first is no failure', async () => {
    const { stderr } = await run(['bash', '-c', `node ${join(ROOT, 'cli/docket.mjs')} start --help | true`]);
    expect(stderr).toBe('');
  });

  test('it starts nothing: no folder, no listener, and neither Temporal nor pg is loaded', async () => {
    const port = String(await lastingPort());
    const preload = join(folder, 'preload.mjs');
    writeFileSync(preload, PRELOAD);
    const env = { DOCKET_DATA: join(folder, 'data'), PORT: port, NODE_OPTIONS: `--import ${preload}` };
    expect(await docket(['start', '--help'], env)).toEqual({ ...helps.get('start'), stderr: 'loaded commander\n' });
    expect(readdirSync(folder)).toEqual(['preload.mjs']);
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
    // the preloaded script does see what a command loads
    expect((await docket(['key', 'list'], { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' })).stderr).toContain(
      'loaded pg\n',
    );
  });

  test('the environment variables in it are those that Docket reads, with their defaults', () => {
    const config = readFileSync(join(ROOT, 'runtime/config.ts'), 'utf8');
    const settings = [...config.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);
    const named = new Set<string>();
    for (const { stdout } of helps.values()) {
      const [, section = ''] = /^Environment:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
      for (const [, name = ''] of section.matchAll(/^ {2}([A-Z][A-Z_]+) {2,}\S/gm)) named.add(name);
    }
    expect([...named].sort()).toEqual(settings.sort());
    const start = helps.get('start')?.stdout.replaceAll(/\n +/g, ' ') ?? '';
    expect(start).toMatch(/ PORT +port of the API; 0 takes any free one \(default: 3000\)/);
    expect(start).toMatch(/ LOG_LEVEL .*\(default: warn\)/);
    expect(helps.get('key list')?.stdout).not.toContain('TEMPORAL_PORT');
  });

  test('help by the command, by -h and without any argument is the same', async () => {
    const lines = [['start', '-h'], ['help', 'start'], [], ['help', 'key', 'create']];
    const same = ['start', 'start', '', 'key create'].map((path) => helps.get(path));
    for (const [n, line] of lines.entries()) expect(await docketHere(line)).toEqual(same[n]);
  });

  test('--version and -V print the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const args of [['--version'], ['-V'], ['start', '--version']])
      expect(await docketHere(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
