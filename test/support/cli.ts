import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject } from 'vitest';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(ROOT, 'cli/docket.mjs');
const SETTING = /^(DOCKET_|TEMPORAL_|BEANSTALKD_|METRICS_|DATABASE_URL$|PORT$|HOST$|LOG_LEVEL$|npm_)/;
const TIMEOUT_MS = 200_000;

/** An empty folder, in which programs run: what they make by default is made there. */
export const folder = mkdtempSync(join(tmpdir(), 'docket-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the machine of a test has set must not decide what it sees. */
const environment = (env: Record<string, string>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTING.test(name))),
  DOCKET_CACHE: inject('cacheDir'),
  ...env,
});

/** Runs a program to its end. */
export function run(command: string[], env: Record<string, string> = {}, cwd = folder): Promise<Ended> {
  const [program = '', ...args] = command;
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

/** A failure: its message on stderr in few lines, with no stack, no secret and nothing on stdout that says it went well. */
export function expectFailure({ code, stdout, stderr }: Ended, ...said: (string | RegExp)[]): void {
  expect([code, stderr]).toEqual([1, expect.any(String)]);
  for (const text of said) expect(stderr).toMatch(text);
  expect(stderr, 'a message, not a stack').not.toMatch(/^ {4}at |node:internal|\[object/m);
  expect(stdout + stderr, 'no secret').not.toContain('hunter2');
  expect(stdout).not.toContain('is ready');
}
