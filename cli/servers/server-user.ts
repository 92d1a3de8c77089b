import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** System folders that all users can read. */
const PROGRAMS = '/var/cache/docket';
const DATA = '/var/lib/docket';

export interface ServerUser {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root; there it runs as the user postgres, made when missing.
 * @returns undefined where it runs as the user of this process
 */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    id('-u');
  } catch {
    execFileSync('useradd', ['--system', '--user-group', 'postgres']);
  }
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * The folder from which the user can run a program: its own, or, where the user cannot read that (root's home), a
 * copy for all users of the system.
 */
export function readableProgram(
  user: ServerUser,
  { root, program, version, say }: { root: string; program: string; version: string; say: (line: string) => void },
): string {
  if (canExecute(user, program)) return root;
  const copy = join(PROGRAMS, `postgresql-${version}-${process.arch}`);
  if (!fs.existsSync(copy)) {
    say(`PostgreSQL: the user postgres cannot read ${root}, so it runs a copy in ${copy}`);
    makeReadable(PROGRAMS);
    const part = fs.mkdtempSync(`${copy}.`);
    fs.cpSync(root, part, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', part]);
    try {
      fs.renameSync(part, copy);
    } catch (error) {
      // another start was faster
      fs.rmSync(part, { recursive: true });
      if (!fs.existsSync(copy)) throw error;
    }
  }
  const copied = join(copy, 'bin', basename(program));
  if (!canExecute(user, copied))
    throw new Error(`PostgreSQL: the user postgres cannot run ${copied}: let it read that folder and those above`);
  return copy;
}

/**
 * The folder in which the user can keep the data: `dir`, or, where the user cannot enter it, a system folder to which
 * `dir` becomes a link. Existing data in `dir` is moved.
 */
export function reachableData(user: ServerUser | undefined, dir: string, say: (line: string) => void): string {
  if (!user) return dir;
  if (!fs.lstatSync(dir, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (canExecute(user, dirname(dir))) return dir;
    makeReadable(DATA);
    const home = fs.mkdtempSync(join(DATA, 'data-'));
    fs.chmodSync(home, 0o755);
    for (const path of [dir, join(dirname(dir), 'postgres.password')])
      if (fs.existsSync(path)) execFileSync('mv', [path, home]);
    fs.mkdirSync(join(home, basename(dir)), { recursive: true });
    fs.symlinkSync(join(home, basename(dir)), dir);
  }
  if (!fs.existsSync(dir))
    throw new Error(
      `PostgreSQL: its data is gone: ${dir} is a link to ${fs.readlinkSync(dir)}. Put it back, or remove the link`,
    );
  const data = fs.realpathSync(dir);
  say(`PostgreSQL: the user postgres cannot read ${dirname(dir)}, so its data is in ${data}`);
  return data;
}

/** mkdir's mode is cut by the umask, which may well be root's 077. */
function makeReadable(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, 0o755);
}

/** Whether the user can run a program, or enter a folder. Tried as the user, because access lists and mounts count, too. */
function canExecute(user: ServerUser, path: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...user, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
