import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/**
 * Installs Debian packages, and says so. Test files run side by side and apt allows one of them at a
 * time, so they wait for each other.
 */
export function installDebian(names: string[]): void {
  process.stdout.write(`installing ${names.join(', ')} from Debian\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    execFileSync('flock', ['/tmp/docket-apt.lock', 'apt-get', ...args], { stdio: 'pipe', env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...names);
}

/** Makes sure that programs of Debian packages are there. As root they are installed, and it is said. */
export function needDebian(packages: Record<string, string>): void {
  const missing = Object.entries(packages).filter(([, program]) => !exists(program));
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  if (process.getuid?.() !== 0) throw new Error(`still needed: apt-get install ${names.join(' ')}`);
  installDebian(names);
}

/** A program on the PATH, or a file by its absolute path: there is a folder `beanstalkd` here, too. */
function exists(what: string): boolean {
  if (what.startsWith('/')) return existsSync(what);
  try {
    execFileSync('sh', ['-c', `command -v ${what}`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
