import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { eventually, type Json } from '../client.ts';
import type { Kit } from './kits.ts';

export interface Program {
  process: ChildProcess;
  /** Everything it has printed, for a failure's message. */
  output(): string;
  /** What it has complained about. */
  errors(): string;
  /** The lines of JSON that it has printed and that have this field. */
  lines(field: string): Json[];
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
}

/** What the programs can do, by their files. */
const PROGRAMS = {
  program: ['consume', 'produce', 'calls', 'pull', 'taskCalls'],
  'program-reviewing': ['review', 'ticketCalls'],
  'program-judging': ['judge', 'caseCalls'],
  'program-auditing': ['reviewCalls', 'audit'],
  'program-streaming': ['stream', 'feed'],
  'program-receiving': ['receive'],
} as const;

/** Runs one of test/support/clients/program* with the client. */
export function runProgram(kit: Kit, what: (typeof PROGRAMS)[keyof typeof PROGRAMS][number], asked: object): Program {
  const file = Object.entries(PROGRAMS).find(([, all]) => (all as readonly string[]).includes(what))?.[0];
  return start(kit, `${file}.${kit.extension}`, [what, JSON.stringify(asked)], {});
}

/** How a README's examples are found. */
const EXAMPLES = {
  jobs: /Consumer\(/,
  tasks: /Puller\(/,
  tickets: /ReviewerLoop\(/,
  cases: /JurorLoop\(/,
  reviews: /reviews(\.|->)put\(/,
  streams: /client(\.|->)stream\(/,
  callbacks: /\breceive\(/,
  versions: /docket_version/,
};
export type Example = keyof typeof EXAMPLES;

/** Runs one of the README's examples, word for word. */
export function runExample(kit: Kit, of: Example, env: Record<string, string>): Program {
  const example = kit.examples.find((text) => EXAMPLES[of].test(text));
  if (example === undefined) throw new Error(`the README has no example of ${of} in ${kit.extension}`);
  const file = `${of}.${kit.extension}`;
  writeFileSync(join(kit.dir, file), example);
  const serve = env.PORT && kit.serve?.(join(kit.dir, file), Number(env.PORT));
  return serve ? start({ ...kit, command: serve }, undefined, [], env) : start(kit, file, [], env);
}

/** Tells loops that share their work to stop; one of them may only just have begun, and nothing be left for it. */
export async function allEnded(loops: Program[]): Promise<void> {
  await eventually(async () => loops.every((loop) => loop.lines('ready').length > 0));
  await ended(...loops);
}

/** Tells programs to stop; they must do so without complaint. */
export async function ended(...programs: Program[]): Promise<void> {
  for (const p of programs) p.process.kill('SIGTERM');
  for (const p of programs) expect(await p.exited, p.output()).toBe(0);
}

function start(
  { command: [command = '', ...first], dir }: Kit,
  file: string | undefined,
  args: string[],
  env: Record<string, string>,
): Program {
  const child = spawn(command, [...first, ...(file === undefined ? [] : [join(dir, file)]), ...args], {
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
    errors: () => errors,
    lines(field) {
      const whole = out.split('\n').slice(0, -1);
      return whole.map((line) => JSON.parse(line)).filter((line) => field in line);
    },
    exited: new Promise((resolve) => child.on('close', resolve)),
  };
}
