import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');
const list = (pattern: string) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', pattern], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(path));

test('every relative link leads to a file', () => {
  const broken = list('*.md').flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, target = '']) => join(dirname(page), target))
      .filter((target) => !existsSync(target))
      .map((target) => `${page} → ${target}`),
  );
  expect(broken).toEqual([]);
});

test('every source file that a page names is there', () => {
  const gone = list('*.md').flatMap((page) =>
    [...read(page).matchAll(/`((?:\w+\/)+[\w.-]+\.(?:ts|sql|yml|json|sh))`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(path) && !existsSync(join(dirname(page), path)))
      .map((path) => `${page} names ${path}`),
  );
  expect(gone).toEqual([]);
});

/** Names in the first column of a document's tables. */
const tableNames = (text: string) =>
  [...text.matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map((m) => m[1]),
  );

test('docs/configuration.md names every environment variable that is read, and no other', () => {
  const config = [...read('runtime/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((m) => m[1]);
  // of the system, of npm, and of tests
  const foreign = new Set(['PATH', 'npm_lifecycle_script', 'CI']);
  const elsewhere = list('*.ts')
    .concat(list('*.mjs'))
    .filter((path) => !/^(test|bench|clients|examples|web|scripts\/stopwatch)\/|^vitest/.test(path))
    .flatMap((path) => [...read(path).matchAll(/process\.env\.(\w+)/g)].map((m) => m[1] ?? ''))
    .filter((name) => !foreign.has(name));
  const [own = '', compose = ''] = read('docs/configuration.md').split('## Docker Compose');
  expect(tableNames(own).sort()).toEqual([...new Set([...config, ...elsewhere])].sort());

  const given = [...read('docker-compose.yml').matchAll(/\$\{(\w+)/g)].map((m) => m[1]);
  // OpenTelemetry's variables are read by its SDK; .env.example names those that compose passes on
  const composed = [...new Set(given)].filter((name) => !config.includes(name) && !name?.startsWith('OTEL_'));
  expect(tableNames(compose).sort()).toEqual(composed.sort());
});

test('every metric is in the operations manual', () => {
  const page = read('docs/operations.md');
  const named = ['api/metrics.ts', 'api/queue-metrics.ts', 'runtime/metrics.ts'].flatMap((path) => [
    ...read(path).matchAll(/'(docket_\w+)'/g),
  ]);
  expect(named.length).toBeGreaterThan(20);
  for (const [, name = ''] of named) expect(page).toContain(`\`${name}\``);
});

test('every npm command that a page names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of list('*.md'))
    for (const [, name = ''] of read(page).matchAll(/npm run ([\w:-]+)/g)) expect(scripts, page).toHaveProperty(name);
});

test('every decision is in their list', () => {
  const index = read('docs/decisions/README.md');
  for (const note of list('docs/decisions/0*.md')) expect(index).toContain(note.split('/').at(-1));
});

test('a lock file that lacks platforms is found', async () => {
  const { missingPlatforms } = await import('../../scripts/lockfile.ts');
  const packages = {
    '': {},
    'node_modules/x': { optionalDependencies: { '@x/linux-x64-gnu': '1.0.0', '@x/darwin-arm64': '1.0.0' }, dev: true },
    'node_modules/@x/linux-x64-gnu': { version: '1.0.0' },
  };
  expect(missingPlatforms({ packages })).toEqual({
    'node_modules/@x/darwin-arm64': { version: '1.0.0', dev: true, os: ['darwin'], cpu: ['arm64'], optional: true },
  });
  const nested = {
    'node_modules/y/node_modules/x': { optionalDependencies: { '@x/linux-x64-gnu': '0.9.0' } },
    'node_modules/@x/linux-x64-gnu': { version: '1.0.0' },
  };
  const at = 'node_modules/y/node_modules/x/node_modules/@x/linux-x64-gnu';
  expect(Object.keys(missingPlatforms({ packages: nested }))).toEqual([at]);
});
