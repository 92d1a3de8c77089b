import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { pythonWith } from '../support/python.ts';

const here = (file: string) => join(import.meta.dirname, 'callers', file);

/** A folder of the cache that is made once from these files. */
function kept(name: string, files: string[], make: (dir: string) => void): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(here(file)));
  const dir = join(inject('cacheDir'), `${name}-caller-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(join(dir, 'ready'))) return dir;
  process.stdout.write(`building a caller in ${name}\n`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  make(dir);
  writeFileSync(join(dir, 'ready'), '');
  return dir;
}

const run = (program: string, args: string[], cwd: string) => execFileSync(program, args, { cwd, stdio: 'pipe' });

/** The command that runs a worker of somebody else, by language, which is also the name of its task queue. */
export const CALLERS: Record<string, () => string[]> = {
  python: () => [pythonWith(inject('cacheDir'), 'temporal', ['temporalio==1.35.0']), '-B', here('caller.py')],
  go() {
    const files = ['go/main.go', 'go/go.mod', 'go/go.sum'];
    const dir = kept('go', files, (to) =>
      run('go', ['build', '-ldflags=-s', '-o', join(to, 'caller'), '.'], here('go')),
    );
    return [join(dir, 'caller')];
  },
  java() {
    needDebian('maven', 'default-jdk-headless');
    const dir = kept('java', ['java/pom.xml', 'java/Caller.java'], (to) => {
      const jars = ['dependency:copy-dependencies', `-DoutputDirectory=${to}`, '-DincludeScope=runtime'];
      run('mvn', ['-B', '-q', '-f', here('java/pom.xml'), ...jars], to);
      const path = readdirSync(to).map((jar) => join(to, jar));
      run('javac', ['-nowarn', '-d', join(to, 'classes'), '-cp', path.join(':'), here('java/Caller.java')], to);
    });
    return ['java', '-cp', `${join(dir, 'classes')}:${dir}/*`, 'Caller'];
  },
};
