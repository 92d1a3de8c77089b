import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last commit of 0.1.0. */
export const EDITION_1 = 'be27490';

/** The folder of what is here. */
export const HERE = fileURLToPath(new URL('../..', import.meta.url));

/**
 * An earlier release, from this repository's history, installed and built. It is kept for the next time.
 * @param ref a commit or a tag
 * @returns its folder
 * @throws Error where the history does not have it
 */
export function releaseOf(ref: string, cacheDir: string, say: (line: string) => void): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: HERE, encoding: 'utf8' }).trim();
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`).slice(0, 12);
  const dir = join(cacheDir, `release-${commit}`);
  const ready = join(dir, '.ready');
  if (existsSync(ready)) return dir;
  say(`${ref} (${commit}) is installed in ${dir} …`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  execFileSync('sh', ['-c', `git archive ${commit} | tar -x -C '${dir}'`], { cwd: HERE });
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: dir, stdio: 'pipe' });
  npm('ci', '--no-audit', '--no-fund');
  npm('run', 'build', '--if-present');
  writeFileSync(ready, '');
  return dir;
}
