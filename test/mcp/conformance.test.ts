import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { atEndOfFile } from '../support/endings.ts';
import type { Http, Json } from '../support/http.ts';
import { ownFolder } from '../support/own.ts';
import { startTestSystem } from '../support/system.ts';

/** The tools that scenarios of the conformance package call, as calls of Docket's. */
const TOOLS: Record<string, (values: Json) => { name: string; arguments: Json }> = {
  greet: () => ({ name: 'explain', arguments: { queue: 'mcp', reviewer: 'greeted' } }),
  slow_compute: ({ seconds }) => ({ name: 'request_decision', arguments: { queue: 'mcp', body: { seconds } } }),
  failing_job: () => ({ name: 'request_decision', arguments: { queue: 'mcp', body: 0, deadlineSeconds: 1 } }),
};

/**
 * Starts a server in front of `/mcp` that has the tools of the conformance package's scenarios. What `slow_compute` requests is
 * decided after its seconds.
 * @returns its URL
 */
async function withTools(api: Http): Promise<string> {
  const timers: NodeJS.Timeout[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let sent = '';
    for await (const chunk of incoming) sent += chunk;
    const { host: _, connection: __, 'content-length': ___, ...given } = incoming.headers;
    const headers = given as Record<string, string>;
    const message: Json = sent === '' ? undefined : JSON.parse(sent);
    const { seconds } = message?.params?.arguments ?? {};
    const tool = TOOLS[message?.params?.name];
    if (tool) {
      Object.assign(message.params, tool(message.params.arguments));
      if (headers['mcp-name']) headers['mcp-name'] = message.params.name;
    }
    const method = incoming.method ?? 'GET';
    const answer = await fetch(`${api.url}/mcp`, {
      method,
      headers,
      ...(message && { body: JSON.stringify(message) }),
    });
    const text = await answer.text();
    const id = /"taskId":"([^"]+)"/.exec(text)?.[1];
    if (seconds !== undefined && id !== undefined)
      timers.push(
        setTimeout(
          () => api.post(`/v1/tickets/${id}/resolve`, { decision: seconds, reason: 'computed' }),
          seconds * 1_000,
        ),
      );
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    outgoing.end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEndOfFile(() => {
    for (const timer of timers) clearTimeout(timer);
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as Json).port}/mcp`;
}

const { api } = await startTestSystem();
const program = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const hooks = new URL('./node-22.mjs', import.meta.url).href;

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
