import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { undecided } from '../../scripts/supply-chain/install-scripts.ts';
import { disallowed } from '../../scripts/supply-chain/licenses.ts';
import { secretsIn } from '../../scripts/supply-chain/secrets.ts';
import { shippedPackages } from '../../scripts/supply-chain/shipped.ts';
import { checkVulnerabilities } from '../../scripts/supply-chain/vulnerabilities.ts';

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
async function registry(advisories: Record<string, { severity: string; title: string }>): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isAudit = request.url?.endsWith('/security/advisories/bulk');
    const answer = Object.entries(advisories).map(([name, advisory], id) => [
      name,
      [{ id: id + 1, url: `https://example.com/${name}`, vulnerable_versions: '>=0', cwe: [], ...advisory }],
    ]);
    response.writeHead(isAudit ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isAudit ? Object.fromEntries(answer) : {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('known vulnerabilities of what is shipped are reported from high on, those of tools are not', async () => {
  const url = await registry({
    hono: { severity: 'high', title: 'lets everyone in' },
    preact: { severity: 'critical', title: 'runs what it shows' },
    pg: { severity: 'low', title: 'is slow' },
    vitest: { severity: 'critical', title: 'tests nothing' },
  });
  const found = await checkVulnerabilities(url);
  expect(found).toEqual(expect.arrayContaining([expect.stringContaining('hono'), expect.stringContaining('preact')]));
  expect(JSON.stringify(found)).not.toMatch(/is slow|tests nothing/);
  expect(JSON.stringify(found)).toContain('lets everyone in');
});

test('a registry that is away, or answers no audits, is said and stops nothing', async () => {
  expect(await checkVulnerabilities('http://127.0.0.1:1/')).toEqual({
    skipped: expect.stringMatching(/answers no audit: .*ECONNREFUSED/),
  });
});
