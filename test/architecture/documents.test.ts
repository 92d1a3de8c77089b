import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { undecided } from '../../scripts/supply-chain/install-scripts.ts';
import { disallowed } from '../../scripts/supply-chain/licenses.ts';
import { secretsIn } from '../../scripts/supply-chain/secrets.ts';
import { shippedPackages } from '../../scripts/supply-chain/shipped.ts';
import { checkVulnerabilities } from '../../scripts/supply-chain/vulnerabilities.ts';
import { listening } from '../support/listening.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const list = (pattern: string) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', pattern], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(path));

test('every relative link leads to a file', () => {
  for (const page of list('*.md'))
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      expect(existsSync(join(dirname(page), target)), `${page} → ${target}`).toBe(true);
});

test('every source file that a page names is there', () => {
  for (const page of list('*.md'))
    for (const [, path = ''] of read(page).matchAll(/`((?:\w+\/)+[\w.-]+\.(?:ts|sql|yml|json|sh))`/g))
      expect(existsSync(path) || existsSync(join(dirname(page), path)), `${page} names ${path}`).toBe(true);
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
  const named = ['api/metrics.ts', 'runtime/metrics.ts'].flatMap((path) => [...read(path).matchAll(/'(docket_\w+)'/g)]);
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

const dir = mkdtempSync(join(inject('dir'), 'compiled-'));
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
};
const run = (file = 'cli/docket.mjs') => execFileSync(process.execPath, [join(dir, file)], { encoding: 'utf8' }).trim();

beforeAll(() => {
  const programs = ['cli/docket.mjs', 'cli/servers/compiled.mjs'];
  for (const file of [...programs, 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(file, join(dir, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(dir, 'node_modules'));
  write('package.json', '{"type":"module"}');
  write('cli/main.ts', "const from: string = 'sources'; console.log(from);");
  write('dist/cli/main.js', "console.log('compiled');");
});

test('compiled code runs only while it is of the very sources that are there', () => {
  expect(run(), 'a dist/ that is not whole').toBe('sources');
  const hash = `import { sourceHash } from './cli/servers/compiled.mjs'; process.stdout.write(sourceHash());`;
  write('hash.mjs', hash);
  write('dist/sources', run('hash.mjs'));
  expect(run()).toBe('compiled');
  write('db/queries/new.sql', 'select 1;');
  expect(run(), 'a statement more').toBe('sources');
  rmSync(join(dir, 'db'), { recursive: true });
  expect(run()).toBe('compiled');
  write('cli/main.ts', "const from: string = 'changed sources'; console.log(from);");
  expect(run()).toBe('changed sources');
});

test('compiled code runs by itself, as in the image', () => {
  cpSync(join(dir, 'cli/docket.mjs'), join(dir, 'dist/cli/docket.mjs'));
  cpSync(join(dir, 'cli/servers/compiled.mjs'), join(dir, 'dist/cli/servers/compiled.mjs'));
  expect(run('dist/cli/docket.mjs')).toBe('compiled');
});

test('what is shipped: dependencies, theirs, and what the console is made of, but no tools', () => {
  const names = new Set(shippedPackages().map(({ name }) => name));
  for (const name of ['hono', 'pg-protocol', 'preact', '@preact/signals-core', 'uplot']) expect(names).toContain(name);
  for (const name of ['vitest', 'vite', 'typescript', 'bullmq', 'playwright-core']) expect(names).not.toContain(name);
});

test.each([
  ['MIT', true],
  ['(MIT OR Apache-2.0) AND ISC', true],
  ['GPL-3.0-only', false],
  ['MIT AND LGPL-2.1-or-later', false],
  ['SEE LICENSE IN terms.txt', false],
  ['UNLICENSED', false],
  ['', false],
  [null, false],
])('a package under %j: allowed is %s', (license, allowed) => {
  expect(disallowed([{ name: 'x', version: '1.0.0', license }]).length).toBe(allowed ? 0 : 1);
});

test('an install script that is neither allowed nor denied is reported', () => {
  const script = { hasInstallScript: true };
  const packages = { 'node_modules/a': script, 'node_modules/b': {}, 'node_modules/b/node_modules/@x/c': script };
  expect(undecided(packages, { a: false })).toEqual([expect.stringMatching(/^@x\/c has an install script/)]);
  expect(undecided(packages, { a: false, '@x/c': true })).toEqual([]);
});

/** Put together here, so that this file has none of them. */
const glued = (...parts: string[]) => parts.join('');
const x = (n: number) => 'Ab3'.repeat(n).slice(0, n);

test.each([
  ['a private key', glued('-----BEGIN ', 'EC PRIVATE', ' KEY-----')],
  ['an access key of AWS', glued('AK', 'IA', 'ABCDEFGHIJKLMNOP')],
  ['a token of GitHub', glued('gh', 'p_', x(36))],
  ['a token of Slack', glued('xo', 'xb-', x(20))],
  ['an API key of Docket', glued('docket_', '0123456789ab', '_', x(43))],
  ['a secret of a callback', glued('whs', 'ec_', x(40))],
  ['a password in a URL', glued('postgres://docket:', x(12), '@db/docket')],
  ['a password or key', glued('api_', 'key = "', x(30), '"')],
])('%s in a file is found, with its line and without itself', (what, secret) => {
  const found = secretsIn('some/file.ts', `first\nsecond ${secret}\n`);
  expect(found).toContain(`some/file.ts:2 looks like ${what}`);
  expect(found.join()).not.toContain(secret);
});

/** npm's registry, as far as an audit asks it. */
const registry = (advisories: Record<string, { severity: string; title: string }>): Promise<string> =>
  listening(
    createServer((request, response) => {
      request.resume();
      const isAudit = request.url?.endsWith('/security/advisories/bulk');
      const answer = Object.entries(advisories).map(([name, advisory], id) => [
        name,
        [{ id: id + 1, url: `https://example.com/${name}`, vulnerable_versions: '>=0', cwe: [], ...advisory }],
      ]);
      response.writeHead(isAudit ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isAudit ? Object.fromEntries(answer) : {}));
    }),
  );

test('known vulnerabilities of what is shipped are reported from high on, those of tools are not', async () => {
  const url = await registry({
    hono: { severity: 'high', title: 'lets everyone in' },
    preact: { severity: 'critical', title: 'runs what it shows' },
    pg: { severity: 'low', title: 'is slow' },
    vitest: { severity: 'critical', title: 'tests nothing' },
  });
  const found = await checkVulnerabilities(`${url}/`);
  expect(found).toEqual(expect.arrayContaining([expect.stringContaining('hono'), expect.stringContaining('preact')]));
  expect(JSON.stringify(found)).not.toMatch(/is slow|tests nothing/);
  expect(JSON.stringify(found)).toContain('lets everyone in');
});

test('a registry that is away, or answers no audits, is said and stops nothing', async () => {
  expect(await checkVulnerabilities('http://127.0.0.1:1/')).toEqual({
    skipped: expect.stringMatching(/answers no audit: .*ECONNREFUSED/),
  });
});
