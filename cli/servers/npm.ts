import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine, exists, parentOf } from './children.ts';

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
