import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WATCHDOG = fileURLToPath(new URL('watchdog.mjs', import.meta.url));
const LAST_LINES = 5;
const LEFTOVER_GRACE_MS = 20_000;

interface ServerCommand {
  command: string;
  args: string[];
  /** Asks it to stop. */
  signal: NodeJS.Signals;
  /** The time that it has to stop before it is killed. */
  graceMs: number;
  /** The file for its pid, so that the next start can end it if its watchdog was killed too. */
  pidFile?: string;
  uid?: number;
  gid?: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

export type RunningChild = Awaited<ReturnType<typeof spawnServer>>;

/**
 * Starts a server under a watchdog, which ends it when this process ends, however that happens. Both are in
 * a process group of their own, so that Ctrl-C reaches the server through this process and in its order.
 * @throws Error when the command cannot be run
 */
export async function spawnServer({ env, ...server }: ServerCommand) {
  const watchdog = spawn(process.execPath, [WATCHDOG, JSON.stringify(server)], {
    env: env ?? process.env,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines: string[] = [];
  const outputs = [watchdog.stdout, watchdog.stderr]
    .filter((stream) => stream !== null)
    .map(async (stream) => {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        lines.push(...text.split('\n').filter(Boolean));
        lines.splice(0, lines.length - LAST_LINES);
      });
      await once(stream, 'close');
    });
  let why: string | undefined;
  const exited = new Promise<void>((resolve) => {
    watchdog.on('message', (message: { ended?: string }) => {
      why ??= message.ended;
    });
    // not `close`, which does not come once this side has disconnected
    watchdog.on('exit', (code, signal) => {
      why ??= `its watchdog ended with ${signal ?? code}`;
      resolve();
    });
  });
  let over = false;
  const ended = Promise.all([exited, ...outputs]).then(() => {
    over = true;
    return why ?? '';
  });
  const pid = await new Promise<number>((resolve, reject) => {
    const failed = (reason: string) => reject(new Error(`could not run ${server.command}: ${reason}`));
    watchdog.on('message', (message: { pid?: number; error?: string }) => {
      if (message.pid !== undefined) resolve(message.pid);
      if (message.error !== undefined) failed(message.error);
    });
    watchdog.on('error', (error) => failed(error.message));
    ended.then(failed);
  });
  return {
    /** Of the server, not of its watchdog. */
    pid,
    /** Resolves with the reason when it has ended: a signal's name or `exit code 1`. */
    ended,
    /** The last lines it printed once it has ended; undefined before. */
    failure: () => (over ? lines.join('\n') || why : undefined),
    async stop() {
      if (watchdog.connected) watchdog.disconnect();
      await ended;
    },
  };
}

/**
 * Runs a command to its end, under a watchdog too.
 * @throws Error with its last lines when it fails; the signal's reason when that ends it
 */
export async function runToEnd(command: ServerCommand, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const child = await spawnServer(command);
  const stop = () => void child.stop();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  const why = await child.ended;
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (why !== 'exit code 0') throw new Error(`${command.command}: ${why}\n${child.failure()}`);
}

/**
 * Waits until a server that was started answers.
 * @param ask throws while it does not; it is asked every 100 ms, `most` times
 * @throws Error with its last lines when it has ended; the last error of `ask`; the signal's reason
 */
export async function untilReady(
  name: string,
  server: RunningChild,
  ask: () => Promise<unknown>,
  { most, signal }: { most: number; signal?: AbortSignal },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const why = server.failure();
    if (why !== undefined) throw new Error(`${name} did not start:\n${why}`);
    try {
      await ask();
      return;
    } catch (error) {
      if (tries > most) throw error;
      await sleep(100);
    }
  }
}

/**
 * Ends the server that an earlier run left behind, if the pid in the file still is that server: `mark` must stand in
 * its command line, because pids are used again. One that does not end by `signal` is killed.
 */
export async function endLeftover(pidFile: string, mark: string, signal: NodeJS.Signals): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (Number.isInteger(pid) && pid > 1 && isAlive(pid) && commandLine(pid).includes(mark)) {
    const deadline = performance.now() + LEFTOVER_GRACE_MS;
    send(pid, signal);
    for (; isAlive(pid); await sleep(20)) if (performance.now() > deadline) send(pid, 'SIGKILL');
  }
  rmSync(pidFile, { force: true });
}

/** False for a zombie too: it holds nothing any more. */
export const isAlive = (pid: number) => exists(pid) && !ps(pid, 'stat').startsWith('Z');

/** A zombie exists. Cheaper than `isAlive`, which runs a program on some systems. */
const exists = (pid: number): boolean => send(pid, 0);

/** @returns whether there is such a process, also where it is another user's */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The command line of a process, or '' where it is gone or cannot be read. */
export const commandLine = (pid: number) => ps(pid, 'args');

/** The parent of a process; undefined where it is gone or cannot be read. */
const parentOf = (pid: number) => Number(ps(pid, 'ppid')) || undefined;

function ps(pid: number, column: 'args' | 'stat' | 'ppid'): string {
  try {
    if (process.platform === 'linux') {
      if (column === 'args') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const [stat = '', ppid = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return column === 'stat' ? stat : ppid;
    }
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

const POLL_MS = 300;

/**
 * Resolves when npm, if this process was started by it (`npm start`), has ended. npm passes SIGTERM on to its shell
 * only, which ends without its children, so Docket would go on without a parent.
 */
export async function npmEnded(): Promise<void> {
  const parent = process.ppid;
  // other programs that a script starts inherit the variable: it must name Docket
  if (!process.env.npm_lifecycle_script?.includes('docket')) return new Promise(() => {});
  const line = commandLine(parent);
  // the shell is between npm and this process, unless it has replaced itself
  const shell = / -c /.test(line) && !line.startsWith('npm ');
  const npm = shell ? parentOf(parent) : undefined;
  while (process.ppid === parent && exists(parent) && (npm === undefined || exists(npm)))
    await sleep(POLL_MS, undefined, { ref: false });
}
