import { execFileSync } from 'node:child_process';

/**
 * Installs Debian packages, and says so. Test files run side by side and apt allows one of them at a
 * time, so they wait for each other.
 */
export function installDebian(names: string[]): void {
  process.stdout.write(`installing ${names.join(', ')}: programs that these tests need\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    execFileSync('flock', ['/tmp/docket-apt.lock', 'apt-get', ...args], { stdio: 'pipe', env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...names);
}
