import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const run = (command: string, args: string[], input = '') =>
  execFileSync(command, args, {
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

/**
 * A Python with these packages of PyPI, in an environment that is kept for the next run.
 * @param packages as arguments of pip
 * @param version of packages that are files
 * @throws Error with what pip said
 */
export function pythonWith(cacheDir: string, name: string, packages: string[], version = ''): string {
  const key = createHash('sha256').update(packages.join(' ')).update(version).digest('hex').slice(0, 12);
  const venv = join(cacheDir, `python-${name}-${key}`);
  const python = join(venv, 'bin', 'python');
  const ready = join(venv, 'ready');
  if (existsSync(ready)) return python;
  console.log(`making a Python environment in ${venv}`);
  rmSync(venv, { recursive: true, force: true });
  run('python3', ['-m', 'venv', venv]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  writeFileSync(ready, '');
  return python;
}

/** What a Python program answers in JSON to what it is given in JSON. */
export const askPython = <T>(python: string, program: string, question: unknown): T =>
  JSON.parse(run(python, ['-B', program], JSON.stringify(question)));
