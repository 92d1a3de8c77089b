import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { api, type Client } from './client.ts';
import { atEndOfFile } from './endings.ts';

export interface DocketChild {
  process: ChildProcess;
  api: Client;
  /** What it has printed so far. */
  output(): string;
  /** Resolves with the exit code, null after a signal. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

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

async function startProgram(
  [program = '', ...args]: string[],
  env: Record<string, string>,
  options: { cwd?: string; detached?: boolean } = {},
): Promise<DocketChild> {
  const child = spawn(program, args, { env: { ...process.env, PORT: '0', ...env }, stdio: 'pipe', ...options });
  // a test that fails half-way must leave no process behind
  atEndOfFile(() => child.kill('SIGKILL'));
  let text = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
        if (/is ready[\s\S]*\n/.test(text)) resolve(/http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? '');
      });
    exited.then((code) => reject(new Error(`${program} ${args.at(-1)} ended with ${code}:\n${text}`)));
  });
  return {
    process: child,
    api: api(url),
    output: () => text,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}
