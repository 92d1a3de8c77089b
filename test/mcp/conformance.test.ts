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
  test_simple_text: () => ({ name: 'explain', arguments: { queue: 'mcp', reviewer: 'greeted' } }),
  test_error_handling: () => ({ name: 'release', arguments: { id: 'unknown', token: 'unknown' } }),
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

/** What Docket does not have, the checks that need it (scenario/check, or the name of both), and how these fail. */
interface Excuse {
  says: RegExp;
  checks: string;
}
const NO_TOOL = /there is no tool|Tool '\w+' not found/;
const BOTH: Record<string, Excuse> = {
  'tools that answer with media, progress or a schema of their own': {
    says: NO_TOOL,
    checks: `tools-call-audio tools-call-image tools-call-embedded-resource tools-call-mixed-content
      tools-call-with-progress json-schema-2020-12/json-schema-2020-12-tool-found`,
  },
  'prompts, resources, completions': {
    says: /Method not found/,
    checks: `prompts-list prompts-get-simple prompts-get-with-args prompts-get-with-image prompts-get-embedded-resource
      resources-list resources-read-text resources-read-binary resources-templates-read completion-complete`,
  },
};
const EXCUSES: Record<string, Record<string, Excuse>> = {
  '2025-11-25': {
    ...BOTH,
    'sampling and elicitation': {
      says: NO_TOOL,
      checks: `tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults/elicitation-sep1034-general
        elicitation-sep1330-enums/elicitation-sep1330-general`,
    },
    'logs, subscriptions': {
      says: /Method not found/,
      checks: 'logging-set-level tools-call-with-logging resources-subscribe resources-unsubscribe',
    },
    'sessions: any process answers any call': {
      says: /^$/,
      checks: `server-sse-polling/server-sse-polling-session
        server-sse-multiple-streams/server-sse-multiple-streams-session`,
    },
  },
  '2026-07-28': {
    ...BOTH,
    'lists of prompts and resources': {
      says: /Method not found/,
      checks: `caching/sep-2549-prompts-list-caching-hints caching/sep-2549-resources-list-caching-hints
        caching/sep-2549-resources-templates-list-caching-hints`,
    },
    'resources, of which one could be unknown': {
      says: /got -32601|data.uri is undefined/,
      checks: 'sep-2164-resource-not-found/sep-2164-error-code sep-2164-resource-not-found/sep-2164-data-uri',
    },
    'arguments that are repeated in headers': {
      says: /no tool with x-mcp-header/,
      checks: `http-custom-header-server-validation/sep-2243-server-no-xmcp-tool
        http-custom-header-server-validation/sep-2243-server-decode-base64
        http-custom-header-server-validation/sep-2243-server-validate-param-match
        http-custom-header-server-validation/sep-2243-server-reject-invalid-param-chars
        http-custom-header-server-validation/sep-2243-server-reject-param-mismatch`,
    },
    'input asked for during a call: sampling, elicitation, roots': {
      says: /no tool|Method not found|InputRequiredResult/,
      checks: `input-required-result-basic-elicitation/sep-2322-elicitation-incomplete
        input-required-result-basic-list-roots/sep-2322-list-roots-incomplete
        input-required-result-basic-sampling/sep-2322-sampling-incomplete
        input-required-result-capability-check/sep-2322-respect-client-capabilities
        input-required-result-ignore-extra-params/sep-2322-ignore-unexpected-params
        input-required-result-missing-input-response/sep-2322-missing-response-rerequests
        input-required-result-multi-round/sep-2322-multi-round-r1
        input-required-result-multiple-input-requests/sep-2322-multiple-inputs-incomplete
        input-required-result-non-tool-request/sep-2322-non-tool-incomplete
        input-required-result-request-state/sep-2322-request-state-incomplete
        input-required-result-result-type/sep-2322-result-type-included
        input-required-result-tampered-state/sep-2322-reject-tampered-state
        tasks-mrtr-composition/sep-2663-mrtr-synchronous-before-task-creation
        tasks-mrtr-input/sep-2663-tasks-get-status-input-required tasks-mrtr-input/tasks-mrtr-tasks-update-resumes
        tasks-mrtr-input/tasks-mrtr-partial-fulfillment
        tasks-dispatch-and-envelope/tasks-result-type-complete-on-non-task-responses`,
    },
    'diagnostic tools that need a capability, stream or log': {
      says: /does not list the diagnostic tool/,
      checks: `server-stateless/sep-2575-server-rejects-undeclared-capability
        server-stateless/sep-2575-missing-capability-http-400
        server-stateless/sep-2575-http-server-no-independent-requests-on-stream
        server-stateless/sep-2575-server-no-log-without-loglevel`,
    },
    'tasks that fail by the protocol: every ticket ends in a state, which is a result': {
      says: NO_TOOL,
      checks: 'tasks-lifecycle/sep-2663-tasks-get-status-failed',
    },
    'a tool that cannot do without tasks: without them request_decision answers with the state': {
      says: /^tools\/call for failing_job returned a successful response/,
      checks: 'tasks-required-task-error/sep-2663-server-returns-missing-capability-when-required',
    },
    'a greeting by name: all else of the check passes': {
      says: /^tool result content MUST be unaffected by the Mcp-Method header$/,
      checks: 'tasks-request-headers/tasks-headers-tolerate-mcp-method-on-tools-call',
    },
  },
};

/** Scenarios of which nothing is excused, so that one that is gone would not be missed. */
const WHOLE: Record<string, string[]> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    ...['tools-list', 'dns-rebinding-protection', 'http-header-validation', 'tasks-capability-negotiation'],
    ...['tasks-wire-fields', 'tasks-request-state-removal'],
  ],
};

test.each(Object.keys(EXCUSES))(
  'B.1 the official conformance package: %s, where what Docket does not have fails as it must',
  async (revision) => {
    const folder = ownFolder(`conformance-${revision}`);
    const args = ['--import', hooks, program, 'server', '--url', await withTools(api), '--requirements', revision];
    // it ends with 1 where a check fails
    await promisify(execFile)(process.execPath, [...args, '-o', folder], { maxBuffer: 2 ** 30 }).catch(() => {});
    const scenarios = readdirSync(folder).map((name) => ({
      name: name.slice('server-'.length, name.lastIndexOf(`-${new Date().getFullYear()}`)),
      checks: JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Json[],
    }));
    const failed = scenarios.flatMap(({ name, checks }) =>
      checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, errorMessage = '' }) => ({ check: id === name ? name : `${name}/${id}`, says: errorMessage })),
    );
    const excuses = Object.values(EXCUSES[revision] ?? {}).flatMap(({ says, checks }) =>
      checks.split(/\s+/).map((check) => ({ check, says })),
    );
    const excuse = (one: { check: string; says: string }) =>
      excuses.find(({ check, says }) => check === one.check && says.test(one.says));
    expect(failed.filter((one) => !excuse(one))).toEqual([]);
    const used = new Set(failed.map(excuse));
    expect(excuses.filter((one) => !used.has(one))).toEqual([]);
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(WHOLE[revision] ?? []));
    const valid = scenarios.flatMap(({ checks }) => checks).filter(({ id }) => id === 'wire-schema-valid');
    expect(valid.length).toBeGreaterThan(20);
  },
  300_000,
);
