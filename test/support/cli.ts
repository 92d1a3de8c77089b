import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, vi } from 'vitest';
import { runProgram } from '../../cli/command-line.ts';
import { atEndOfFile } from './endings.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(ROOT, 'cli/docket.mjs');
const SETTING = /^(DOCKET_|TEMPORAL_|BEANSTALKD_|METRICS_|DATABASE_URL$|PORT$|HOST$|LOG_LEVEL$|npm_)/;
const TIMEOUT_MS = 200_000;

/** The folder in which programs run, and make what they make by default. It is empty when a test file begins. */
export const folder = mkdtempSync(join(inject('dir'), 'cli-'));

/** What the machine of a test has set must not decide what it sees. */
const environment = (env: Record<string, string>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTING.test(name))),
  DOCKET_CACHE: inject('cacheDir'),
  ...env,
});

function emptyFolder(): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Runs a program to its end. */
export function run(command: string[], env: Record<string, string> = {}, cwd = folder): Promise<Ended> {
  const [program = '', ...args] = command;
  atEndOfFile(emptyFolder);
  return new Promise((resolve) => {
    const options = { cwd, env: environment(env), timeout: TIMEOUT_MS };
    execFile(program, args, options, (error, stdout, stderr) => {
      // a signal has no code; it means that the program did not end by itself
      const code = error ? Number(error.code ?? -1) : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs `docket …` to its end, in an empty folder and with these settings only. */
export const docket = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  run([process.execPath, BIN, ...args], env);

/** Stands for the end of the process, which is this one. */
class Exited extends Error {
  code = 0;
}

/** Runs `docket …` without a process of its own, one at a time. */
export async function docketHere(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  atEndOfFile(emptyFolder);
  const said = { stdout: '', stderr: '' };
  const before = process.env;
  const spies = [
    ...(['stdout', 'stderr'] as const).map((name) =>
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        said[name] += text;
        return true;
      }),
    ),
    vi.spyOn(console, 'log').mockImplementation((text) => {
      said.stdout += `${text}\n`;
    }),
    vi.spyOn(console, 'error').mockImplementation((text) => {
      said.stderr += `${text}\n`;
    }),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw Object.assign(new Exited(), { code });
    }),
  ];
  process.env = environment(env);
  try {
    return { code: (await runProgram(args)) ?? Number(process.exitCode ?? 0), ...said };
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    return { code: error.code, ...said };
  } finally {
    process.env = before;
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}

/** A failure: its message on stderr in few lines, with no stack, no secret and nothing on stdout that says it went well. */
export function expectFailure({ code, stdout, stderr }: Ended, ...said: (string | RegExp)[]): void {
  expect([code, stderr]).toEqual([1, expect.any(String)]);
  for (const text of said) expect(stderr).toMatch(text);
  expect(stderr, 'a message, not a stack').not.toMatch(/^ {4}at |node:internal|\[object/m);
  expect(stdout + stderr, 'no secret').not.toContain('hunter2');
  expect(stdout).not.toContain('is ready');
}
