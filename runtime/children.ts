import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Starts a server of ours in a process group of its own, so that Ctrl-C reaches it through us and in
 * our order, and leaves its pid in `pidFile`, so that after a kill -9 the next start can end it.
 */
export function spawnServer(
  command: string,
  args: string[],
  options: { pidFile: string; uid?: number; gid?: number; env?: NodeJS.ProcessEnv; onLine?: (line: string) => void },
): ChildProcess {
  const { pidFile, onLine, ...rest } = options;
  const child = spawn(command, args, { ...rest, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      for (const line of text.split('\n')) if (line) onLine?.(line);
    });
  }
  return child;
}

/** Sends `signal`, waits up to `graceMs`, then kills. Resolves when the process is gone. */
export async function stopServer(pid: number, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  send(pid, signal);
  while (isAlive(pid)) {
    if (Date.now() > deadline) send(pid, 'SIGKILL');
    await sleep(20);
  }
}

/**
 * Ends the server that an earlier run left behind, if the pid in the file still is that server:
 * `mark` must stand in its command line, because pids are used again.
 * @returns whether there was one
 */
export async function endLeftover(pidFile: string, mark: string, signal: NodeJS.Signals): Promise<boolean> {
  if (!existsSync(pidFile)) return false;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const ours = Number.isInteger(pid) && pid > 1 && isAlive(pid) && commandLine(pid).includes(mark);
  if (ours) await stopServer(pid, signal, 20_000);
  rmSync(pidFile, { force: true });
  return ours;
}

/** False for a zombie too: it holds nothing any more. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !ps(pid, 'stat').startsWith('Z');
}

/** The command line of a process, or '' where it is gone or cannot be read. */
export const commandLine = (pid: number) => ps(pid, 'args');

function ps(pid: number, column: string): string {
  try {
    if (process.platform === 'linux') {
      if (column === 'args') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '');
    }
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
