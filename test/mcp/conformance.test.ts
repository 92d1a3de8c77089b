import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Json } from '../support/client.ts';
import { withTools } from '../support/mcp-tools.ts';
import { ownFolder } from '../support/own.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const program = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const hooks = new URL('../support/node-22.mjs', import.meta.url).href;

/** Checks that need what Docket does not have: tools of the package's own, prompts, resources, completions, logs. */
const NEEDS = /there is no tool|Method not found|Not testable|Tool '\w+' not found|InputRequiredResult/;
/** The same, though the message does not say it: a greeting, and a tool that cannot be called without a task. */
const ALSO = [
  'tasks-headers-tolerate-mcp-method-on-tools-call',
  'sep-2663-server-returns-missing-capability-when-required',
];

test.each([
  ['2025-11-25', ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']],
  [
    '2026-07-28',
    [
      ...['tools-list', 'dns-rebinding-protection', 'http-header-validation', 'tasks-capability-negotiation'],
      ...['tasks-wire-fields', 'tasks-request-state-removal'],
    ],
  ],
])(
  'B.1 the official conformance package: %s',
  async (revision, whole) => {
    const folder = ownFolder(`conformance-${revision}`);
    const args = ['--import', hooks, program, 'server', '--url', await withTools(api), '--requirements', revision];
    // it ends with 1 where a check fails
    await promisify(execFile)(process.execPath, [...args, '-o', folder], { maxBuffer: 2 ** 30 }).catch(() => {});
    const scenarios = readdirSync(folder).map((name) => ({
      name: name.slice('server-'.length, name.lastIndexOf(`-${new Date().getFullYear()}`)),
      checks: JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Json[],
    }));
    const failed = scenarios.flatMap(({ name, checks }) =>
      checks.filter(({ status }) => status === 'FAILURE').map((check) => ({ ...check, scenario: name })),
    );
    const unexcused = failed.filter(({ id, errorMessage }) => !NEEDS.test(errorMessage) && !ALSO.includes(id));
    expect(unexcused.map(({ scenario, id, errorMessage }) => `${scenario} ${id}: ${errorMessage}`)).toEqual([]);
    expect(whole.filter((name) => failed.some(({ scenario }) => scenario === name))).toEqual([]);
    for (const name of whole) expect(scenarios.map((s) => s.name)).toContain(name);
    const valid = scenarios.flatMap(({ checks }) => checks).filter(({ id }) => id === 'wire-schema-valid');
    expect(valid.length).toBeGreaterThan(20);
  },
  300_000,
);
