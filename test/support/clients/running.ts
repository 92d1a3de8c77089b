import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
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
export const runProgram = (
  kit: Kit,
  what: 'consume' | 'produce' | 'calls' | 'pull' | 'taskCalls',
  asked: object,
): Program => start(kit, `program.${kit.extension}`, [what, JSON.stringify(asked)], {});

/** Runs one of the README's examples, word for word. */
export function runExample(kit: Kit, of: 'consumer' | 'puller', env: Record<string, string>): Program {
  const example = kit.examples[of === 'consumer' ? 0 : 1];
  if (example === undefined) throw new Error(`the README has no example of a ${of} in ${kit.extension}`);
  const file = `${of}.${kit.extension}`;
  writeFileSync(join(kit.dir, file), example);
  return start(kit, file, [], env);
}

/** Tells programs to stop; they must do so without complaint. */
export async function ended(...programs: Program[]): Promise<void> {
  for (const p of programs) p.process.kill('SIGTERM');
  for (const p of programs) expect(await p.exited, p.output()).toBe(0);
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
