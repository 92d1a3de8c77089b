import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../cli/servers/ports.ts';
import { api, claimOne, eventually } from '../support/client.ts';
import { needDebian } from '../support/debian.ts';
import { atEndOfFile } from '../support/endings.ts';
import { createKey } from '../support/keys.ts';
import { ownFolder } from '../support/own.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';

needDebian('nginx-light');

const keys = { DOCKET_AUTH: 'keys' };
const reports = await startTestSystem(keys);
const { databaseUrl, namespace } = reports;
const stores = { databaseUrl, namespace, temporalAddress: inject('temporal') };
const second = await startTestSystem(keys, { role: 'api', stores });
const comments = await startTestSystem(keys);

const port = await freePort();
await startNginx(
  configuration({
    '10.0.1.1:3000': addressOf(reports),
    '10.0.1.2:3000': addressOf(second),
    '10.0.2.1:3000': addressOf(comments),
    // names that need no resolver
    'reports.docket.example': '127.0.0.2',
    'comments.docket.example': '127.0.0.3',
    'listen 80': `listen ${port}`,
  }),
);
const atReports = api(`http://127.0.0.2:${port}`, await keyOf(reports));
const atComments = api(`http://127.0.0.3:${port}`, await keyOf(comments));

function addressOf({ api }: TestSystem): string {
  return new URL(api.url).host;
}

async function keyOf({ running }: TestSystem): Promise<string> {
  const { key } = await createKey(running.runtime.db, { name: 'all', role: 'admin', subject: null });
  return key;
}

/** The block of docs/scaling.md, with addresses of this test. */
function configuration(replacements: Record<string, string>): string {
  const document = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const block = /```nginx\n([\s\S]+?)```/.exec(document)?.[1] ?? '';
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`docs/scaling.md has no ${from} in its configuration of nginx`);
    return text.replaceAll(from, to);
  }, block);
}

async function startNginx(http: string): Promise<void> {
  const folder = ownFolder('nginx');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temporary.join(' ')}\n${http} }`,
  );
  const nginx = spawn('/usr/sbin/nginx', ['-e', `${folder}/error.log`, '-c', file], { stdio: 'inherit' });
  const ended = new Promise((resolve) => nginx.on('exit', resolve));
  atEndOfFile(() => {
    nginx.kill();
    return ended;
  });
  await eventually(() => fetch(`http://127.0.0.1:${port}/`));
}

test('each host name leads to its own Docket, with its own queues and keys', async () => {
  await add(atReports, 'spam', { id: 'same' });
  await add(atComments, 'spam', { id: 'same', body: 'another one' });
  await claimOne(atReports, 'spam', 'anna');
  expect((await reports.sql('select state from item')).map(({ state }) => state)).toEqual(['held']);
  expect((await comments.sql('select state from item')).map(({ state }) => state)).toEqual(['ready']);
  expect((await atComments.as(atReports.key ?? '').get('/v1/queues')).status).toBe(401);
  expect((await fetch(`${atReports.url}/`)).headers.get('content-type')).toMatch('text/html');
});

test('other host names and paths for operators are not answered', async () => {
  for (const url of [`http://127.0.0.1:${port}/v1/queues`, `${atReports.url}/metrics`, `${atReports.url}/readyz`])
    expect((await fetch(url)).status).toBe(404);
});

test('a claim that waits and a stream get what comes at once', async () => {
  const stream = await openStream(atReports, 'queue=waiting');
  const claimed = claimOne(atReports, 'waiting', 'ben', { waitSeconds: 30 });
  await eventually(async () => reports.running.runtime.waiters.size + second.running.runtime.waiters.size > 0);
  await add(atReports, 'waiting', { id: 'awaited' });
  expect((await claimed).id).toBe('awaited');
  await stream.first('available');
});

test('a batch of almost 8 MB passes, and what is larger is refused by Docket', async () => {
  const body = 'x'.repeat(250_000);
  const batch = (count: number) => ({ tickets: Array.from({ length: count }, () => ({ body })) });
  const { status, body: answer } = await atReports.post('/v1/queues/large/tickets/batch', batch(33));
  expect([status, answer.results.length]).toEqual([200, 33]);
  expect(await atReports.post('/v1/queues/large/tickets/batch', batch(34))).toMatchObject({
    status: 413,
    body: { code: 'payload_too_large' },
  });
});

test('after the end of an API process the other one of its Docket answers all calls', async () => {
  await second.stop();
  for (let n = 0; n < 20; n++) {
    await add(atReports, 'going-on', { id: `t${n}` });
    expect((await claimOne(atReports, 'going-on', `reviewer-${n}`)).id).toBe(`t${n}`);
  }
});
