import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { api, type Client } from './client.ts';
import { atEndOfFile } from './endings.ts';
import type { TestStores } from './system.ts';

export interface Launched {
  process: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** The exit code; null after a signal. */
  exited: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface DocketChild extends Launched {
  api: Client;
}

/** The settings with which a process of its own uses these stores. */
export const settingsFor = (
  { databaseUrl, namespace, temporalAddress }: Pick<TestStores, 'databaseUrl' | 'namespace'> & Partial<TestStores>,
  more: object = {},
) => ({
  ...{ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress ?? inject('temporal') },
  ...{ TEMPORAL_NAMESPACE: namespace, DOCKET_CACHE: inject('cacheDir'), ...more },
});

const bin = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));

/**
 * Runs `docket start|api|worker` as a process of its own, and waits until it says that it is ready.
 * @param command with its arguments, if it has any
 * @param program of another release than what is here
 */
export const startChild = (command: string | string[], env: Record<string, string>, program = bin) =>
  startProgram([process.execPath, program, ...[command].flat()], env);

/** `npm start` in a process group of its own, which `end` does not signal as a whole. */
export const startNpm = (env: Record<string, string>, checkout = fileURLToPath(new URL('../..', import.meta.url))) =>
  startProgram(['npm', 'start'], env, { cwd: checkout, detached: true });

/** `docket export` as a process of its own; it has ended when all that it said has been read. */
export const startExport = (args: string[], env: Record<string, string> = {}, node = process.execPath): Launched =>
  launch([node, bin, 'export', ...args], env);

/** `docket outbox follow` as a process of its own. @param server its URL */
export const startOutbox = (database: string, server: string, env: Record<string, string> = {}): Launched =>
  launch([process.execPath, bin, 'outbox', 'follow', database], { DOCKET_URL: server, ...env });

/** Runs a program; it has ended when all that it said has been read, or with `exit` as soon as it has. */
export function launch(
  [program = '', ...args]: string[],
  env: Record<string, string>,
  options: { cwd?: string; detached?: boolean } = {},
  end: 'exit' | 'close' = 'close',
): Launched {
  const child = spawn(program, args, { env: { ...process.env, PORT: '0', ...env }, stdio: 'pipe', ...options });
  // a test that fails half-way must leave no process behind
  atEndOfFile(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const exited = new Promise<number | null>((resolve) => child.on(end, resolve));
  return {
    process: child,
    output: () => text,
    exited,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

async function startProgram(
  command: string[],
  env: Record<string, string>,
  options: { cwd?: string; detached?: boolean } = {},
): Promise<DocketChild> {
  const launched = launch(command, env, options, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [launched.process.stdout, launched.process.stderr])
      stream?.on('data', () => {
        const text = launched.output();
        if (/is ready[\s\S]*\n/.test(text)) resolve(/http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? '');
      });
    launched.exited.then((code) => reject(new Error(`${command.join(' ')} ended with ${code}:\n${launched.output()}`)));
  });
  return { ...launched, api: api(url) };
}
