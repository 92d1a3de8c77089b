import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import type { Kit } from './kits.ts';

export interface Program {
  process: ChildProcess;
  /** Everything it has printed, for a failure's message. */
  output(): string;
  /** Its standard error. */
  errors(): string;
  /** The lines of JSON that it has printed and that have one of these fields. */
  lines(...fields: string[]): Json[];
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
}

/** Options of a client, by the names that each language writes in its own way. */
export interface Options {
  servers: string[];
  apiKey?: string;
  discover?: boolean;
  retrySeconds?: number;
}

/** Options of a client that reaches nobody, and gives up at once. */
export const NO_SERVER = { servers: ['http://127.0.0.1:1'], retrySeconds: 0 };

/** What a driver can run until it ends or is told to stop, with options that the tests leave out. */
const RUNS = {
  Consumer: { wait: 2 },
  Puller: { wait: 2 },
  ReviewerLoop: { waitSeconds: 1 },
  JurorLoop: { pauseSeconds: 0.3 },
  stream: {},
  feed: {},
};
export type Loop = keyof typeof RUNS;

/** Arguments that are given by name: the last object in TypeScript, keywords in Python, named arguments in PHP. */
class Named {
  readonly values: Record<string, unknown>;

  constructor(values: Record<string, unknown>) {
    this.values = values;
  }
}
export const named = (values: Record<string, unknown>): Named => new Named(values);

/** The error of a call: `error` is its class without `Error`, the other fields are its own. */
class Failed extends Error {
  readonly fields: Json;

  constructor(fields: Json) {
    super(JSON.stringify(fields));
    this.fields = fields;
  }
}

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<Json> {
  const error = await call.then(
    (answer) => new Error(`it succeeds: ${JSON.stringify(answer)}`),
    (reason) => reason,
  );
  if (error instanceof Failed) return error.fields;
  throw error;
}

/** The class and the code of that error. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  const { error, code } = await failure(call);
  return `${error} ${code ?? ''}`.trim();
}

/** Calls a method of a client by its name, such as `tickets.claim`. Parts of earlier answers can be arguments. */
export type Call = (name: string, ...args: unknown[]) => Promise<Json>;

export interface Connected extends Call {
  with(more: Partial<Options>): Call;
  program: Program;
}

/**
 * A client in a program of its own: test/clients/driver.*. It reads lines of JSON, `{call, args, named}` for a call and
 * `{run, options}` for a loop, each with the options of its `client`, and prints a line for each answer and for each event.
 */
export function connect(kit: Kit, client: Options): Connected {
  const program = start(kit, `driver.${kit.extension}`);
  const { stdin, stdout } = program.process;
  const places = new WeakMap<object, (string | number)[]>();
  const remember = (value: unknown, place: (string | number)[]): void => {
    if (typeof value !== 'object' || value === null) return;
    places.set(value, place);
    for (const [name, part] of Object.entries(value))
      remember(part, [...place, Array.isArray(value) ? Number(name) : name]);
  };
  const argument = (value: unknown) => {
    const place = typeof value === 'object' && value !== null ? places.get(value) : undefined;
    return place ? { $answer: place } : value;
  };
  let calls = 0;
  const calling =
    (options: Options): Call =>
    async (call, ...all) => {
      const n = calls++;
      const last = all.at(-1);
      const args = (last instanceof Named ? all.slice(0, -1) : all).map(argument);
      const line = { call, args, named: last instanceof Named ? last.values : undefined, client: options };
      stdin?.write(`${JSON.stringify(line)}\n`);
      while (program.lines('answer', 'failed').length <= n) {
        const code = await Promise.race([once(stdout as Readable, 'data').then(() => undefined), program.exited]);
        if (code !== undefined) throw new Error(program.output());
      }
      const { answer, failed } = program.lines('answer', 'failed')[n];
      if (failed) throw new Failed(failed);
      remember(answer, [n]);
      return answer;
    };
  return Object.assign(calling(client), {
    with: (more: Partial<Options>) => calling({ ...client, ...more }),
    program,
  });
}

/** Runs a loop, a stream or a feed's reader in a program of its own. */
export function run(kit: Kit, what: Loop, asked: Partial<Options> & Record<string, unknown>): Program {
  const { servers, apiKey, discover, retrySeconds, ...options } = asked;
  const program = start(kit, `driver.${kit.extension}`);
  const client = { servers, apiKey, discover, retrySeconds };
  program.process.stdin?.end(`${JSON.stringify({ run: what, client, options: { ...RUNS[what], ...options } })}\n`);
  return program;
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
  return serve ? start({ ...kit, command: serve }, undefined, env) : start(kit, file, env);
}

/** Ids of what handlers were begun with, in order. */
export const began = (...programs: Program[]): string[] =>
  programs.flatMap((program) => program.lines('began').map((line) => line.began));

/** Ids of what handlers have ended with, in order. */
export const endedIds = (...programs: Program[]): string[] =>
  programs.flatMap((program) => program.lines('ended').map((line) => line.ended));

/** The handler must have been begun with this id once, and again after at least each of these pauses, in seconds. */
export function expectBegun(program: Program, id: string, pauses: number[] = []): void {
  const times: number[] = program.lines('began').flatMap((line) => (line.began === id ? [line.at] : []));
  expect(times).toHaveLength(pauses.length + 1);
  for (const [n, pause] of pauses.entries())
    expect((times[n + 1] ?? 0) - (times[n] ?? 0)).toBeGreaterThanOrEqual(pause);
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

/** Waits until a program has ended with this error. */
export async function endedWith(program: Program, fatal: string): Promise<void> {
  expect(await program.exited, program.output()).toBe(3);
  expect(program.lines('fatal')).toMatchObject([{ fatal }]);
}

function start({ command, dir }: Kit, file: string | undefined, env: Record<string, string> = {}): Program {
  const [name = '', ...args] = file === undefined ? command : [...command, join(dir, file)];
  const child = spawn(name, args, { cwd: dir, env: { ...process.env, ...env } });
  let [out, errors, read] = ['', '', 0];
  const parsed: Json[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
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
    lines(...fields) {
      const whole = out.lastIndexOf('\n') + 1;
      parsed.push(
        ...out
          .slice(read, whole)
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      );
      read = whole;
      return parsed.filter((line) => fields.some((field) => field in line));
    },
    exited: new Promise((resolve) => child.on('close', resolve)),
  };
}
