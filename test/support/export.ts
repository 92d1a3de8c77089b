import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEndOfFile } from './endings.ts';

export interface ExportChild {
  /** What it has printed so far. */
  output(): string;
  /** The exit code; null after a signal. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

const bin = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));

/** Runs `docket export` as a process of its own. */
export function startExport(args: string[], env: Record<string, string> = {}): ExportChild {
  const child = spawn(process.execPath, [bin, 'export', ...args], { env: { ...process.env, ...env }, stdio: 'pipe' });
  // a test that fails half-way must leave no process behind
  atEndOfFile(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
    });
  // closed, not only exited: what it said last has been read by then
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    output: () => text,
    exited,
    kill(signal) {
      child.kill(signal);
      return exited;
    },
  };
}
