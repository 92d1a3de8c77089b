import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Json } from '../client.ts';
import type { Kit } from './kits.ts';

export interface Program {
  process: ChildProcess;
  /** Everything it has printed, for a failure's message. */
  output(): string;
  /** The lines of JSON that it has printed and that have this field. */
  lines(field: string): Json[];
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
}

/** Runs test/support/clients/program.* with the client. */
export const runProgram = (kit: Kit, what: 'consume' | 'produce' | 'calls', asked: object): Program =>
  start(kit, `program.${kit.extension}`, [what, JSON.stringify(asked)], {});

/** Runs the README's example, word for word. */
export function runExample(kit: Kit, env: Record<string, string>): Program {
  const file = `readme.${kit.extension}`;
  writeFileSync(join(kit.dir, file), kit.example);
  return start(kit, file, [], env);
}

function start(
  { command: [command = '', ...first], dir }: Kit,
  file: string,
  args: string[],
  env: Record<string, string>,
): Program {
  const child = spawn(command, [...first, join(dir, file), ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    process: child,
    output: () => `${out}${errors}`,
    lines(field) {
      const whole = out.split('\n').slice(0, -1);
      return whole.map((line) => JSON.parse(line)).filter((line) => field in line);
    },
    exited: new Promise((resolve) => child.on('close', resolve)),
  };
}
