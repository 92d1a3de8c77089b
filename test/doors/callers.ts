import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { cachedFolder, execute } from '../support/cached.ts';
import { needDebian } from '../support/debian.ts';
import { pythonWith } from '../support/python.ts';

const here = (file: string) => join(import.meta.dirname, 'callers', file);

/** A folder of the cache that is made once from these files. */
const kept = (name: string, files: string[], make: (dir: string) => Promise<unknown>): Promise<string> =>
  cachedFolder(`${name}-caller`, files.map((file) => readFileSync(here(file), 'utf8')).join('\0'), make);

/** The command that runs a worker of somebody else, by language, which is also the name of its task queue. */
export const CALLERS: Record<string, () => Promise<string[]>> = {
  python: async () => [pythonWith(inject('cacheDir'), 'temporal', ['temporalio==1.35.0']), '-B', here('caller.py')],
  async go() {
    const files = ['go/main.go', 'go/go.mod', 'go/go.sum'];
    const dir = await kept('go', files, (to) =>
      execute('go', ['build', '-ldflags=-s', '-o', join(to, 'caller'), '.'], { cwd: here('go') }),
    );
    return [join(dir, 'caller')];
  },
  async java() {
    needDebian('maven', 'default-jdk-headless');
    const dir = await kept('java', ['java/pom.xml', 'java/Caller.java'], async (to) => {
      const jars = ['dependency:copy-dependencies', `-DoutputDirectory=${to}`, '-DincludeScope=runtime'];
      await execute('mvn', ['-B', '-q', '-f', here('java/pom.xml'), ...jars], { cwd: to });
      const path = readdirSync(to).map((jar) => join(to, jar));
      await execute('javac', ['-nowarn', '-d', join(to, 'classes'), '-cp', path.join(':'), here('java/Caller.java')]);
    });
    return ['java', '-cp', `${join(dir, 'classes')}:${dir}/*`, 'Caller'];
  },
};
