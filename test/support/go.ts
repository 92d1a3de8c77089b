import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';

/**
 * Programs that Go builds, once: they are kept in a folder, which is there only with all of them.
 * @param modules as `go install` takes them
 * @throws Error where there is no Go, or they cannot be had
 */
export function builtByGo(dir: string, modules: string[]): void {
  if (existsSync(dir)) return;
  process.stdout.write(`building ${modules.join(', ')} with Go\n`);
  const part = `${dir}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const env = { ...process.env, GOBIN: part, GOFLAGS: '-modcacherw' };
  for (const module of modules) execFileSync('go', ['install', '-ldflags=-s', module], { stdio: 'pipe', env });
  renameSync(part, dir);
}
