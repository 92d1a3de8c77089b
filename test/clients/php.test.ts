import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventTypes, eventually } from '../support/client.ts';
import { ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, ticket } from '../support/tickets.ts';
import { debianRepositories } from './composer.ts';
import { ended, type Program, runExample } from './driver.ts';
import { phpKit } from './kits.ts';
import { testClient } from './scenarios/all.ts';
import { send } from './scenarios/callbacks.ts';
import { processes } from './scenarios/loops.ts';
import { served } from './stand-ins.ts';

const kit = phpKit();
const system = await startTestSystem();
const idle = await startTestSystem({}, { role: 'api' });
const { api } = system;

/** Processes that a program has started. */
async function children({ process: { pid } }: Program): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** A server that sends these texts as events, and keeps the stream open. */
async function streaming(...texts: string[]): Promise<{ url: string; asked: (string | undefined)[] }> {
  const asked: (string | undefined)[] = [];
  const url = await served(async (request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of texts.splice(0)) {
      response.write(text);
      // a packet of its own
      await sleep(20);
    }
    if (asked.length === 1) return response.end();
    // who waits for the next event is told to stop meanwhile
    const alive = setInterval(() => response.write(':\n\n'), 200);
    return response.on('close', () => clearInterval(alive));
  });
  return { url, asked };
}

const { run } = testClient(system, idle, kit, processes);

test('S0.7 the process that claims is killed: another one goes on with what its reviewer holds', async () => {
  await configure(api, 'restarted', { leaseSeconds: 600 });
  await add(api, 'restarted', { id: 'restarted', body: { seconds: 2 } });
  const loop = run('ReviewerLoop', { queue: 'restarted', reviewer: 'ada' });
  await eventually(async () => loop.lines('began').length === 1);
  for (const pid of await children(loop)) process.kill(pid, 'SIGKILL');
  await eventually(async () => (await ticket(api, 'restarted')).state === 'decided');
  await ended(loop);
  expect(loop.lines('began').map((line) => line.attempt)).toEqual([1, 1]);
  expect(await eventTypes(api, 'restarted')).toEqual(['created', 'claimed', 'decided']);
});

test('S0.4 events are read as the specification says, in whatever pieces they come', async () => {
  const { url, asked } = await streaming(
    'retry: 10\nid: 7\n\n',
    ': sign of life\r\nevent: changed\r\nda',
    'ta: {"id":\r\ndata:"ä 1"}\r\nid: 8\r\n\r\n',
    'data: {"n": 1}\nunknown: x\nid\n\nid: 9\nevent: stats\ndata: {"a": {}}\n\n',
    'id: 10\nevent: changed\ndata: {"cut": true}\n',
  );
  const stream = run('stream', { servers: [url], reviewer: 'ada', lastEventId: '5' });
  await eventually(async () => asked.length === 2);
  await ended(stream);
  expect(stream.lines('event').map((line) => line.event)).toEqual([
    { type: 'changed', data: { id: 'ä 1' }, id: '8' },
    { type: 'message', data: { n: 1 }, id: '' },
    { type: 'stats', data: { a: [] }, id: '9' },
  ]);
  expect(asked).toEqual(['5', '9']);
});

test('S0.10 fifty of the same callback at once, in eight processes with PostgreSQL: one is handled', async () => {
  const port = await lastingPort();
  const { hostname, port: pgPort, username, password, pathname } = new URL(system.databaseUrl);
  const login = `user=${username};password=${decodeURIComponent(password)}`;
  const receiver = runExample(kit, 'callbacks', {
    ...{ PORT: String(port), DOCKET_CALLBACK_SECRET: SECRET, PHP_CLI_SERVER_WORKERS: '8' },
    DATABASE_DSN: `pgsql:host=${hostname};port=${pgPort};dbname=${pathname.slice(1)};${login}`,
  });
  // they would outlive the process that has started them
  onTestFinished(async () => {
    for (const pid of await children(receiver)) process.kill(pid, 'SIGKILL');
  });
  const sent = (id: string) =>
    send(`http://127.0.0.1:${port}/`, { type: 'ticket.decided', version: 3, ticket: { id } }).catch(() => 0);
  await eventually(async () => (await sent('before')) === 204);
  const answers = await Promise.all(Array.from({ length: 50 }, () => sent('fifty')));
  expect(new Set(answers)).toEqual(new Set([204]));
  expect(receiver.output().match(/of fifty,/g)).toHaveLength(1);
  expect(await system.sql('select item, version::int from docket_version order by item')).toEqual([
    { item: 'ticket/before', version: 3 },
    { item: 'ticket/fifty', version: 3 },
  ]);
});

const sources = fileURLToPath(new URL('../../clients/php', import.meta.url));
const debian = debianRepositories();

const home = ownFolder('composer');
const env = {
  ...{ ...process.env, COMPOSER_HOME: join(home, 'home') },
  ...{ COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_DISABLE_NETWORK: '1', COMPOSER_NO_INTERACTION: '1' },
};
/** Beside the server that it may call. */
const runIn = async (cwd: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, env })).stdout;
const composer = (cwd: string, ...args: string[]) => runIn(cwd, 'composer', ...args);

/** An empty project, whose only repositories are these and Debian's libraries. */
function project(name: string, repositories: object[]): string {
  const dir = join(home, name);
  mkdirSync(dir);
  writeFileSync(join(dir, 'composer.json'), JSON.stringify({ repositories: [...repositories, ...debian] }));
  return dir;
}

const USE = `<?php
require __DIR__ . '/vendor/autoload.php';
$client = new Docket\\Client(
    $argv[1],
    fn () => new GuzzleHttp\\Client(['timeout' => 15]),
    new GuzzleHttp\\Psr7\\HttpFactory(),
);
$client->tickets->add('packaged', ['id' => $argv[2], 'body' => null]);
$ticket = $client->tickets->claim('packaged', 'ada')->tickets[0];
echo $client->tickets->decide($ticket, 'fine')->ticket->state, ' ', Docket\\Received::Handled->value;
`;

test('S0.8 the built package is installed into an empty project, and works there', async () => {
  await composer(sources, 'validate', '--strict', '--no-check-version');
  await composer(sources, 'archive', '--format=tar', `--dir=${home}`, '--file=client');
  const files = (await runIn(home, 'tar', '-tf', 'client.tar')).trim().split('\n');
  expect(files).toEqual(expect.arrayContaining(['README.md', 'composer.json', 'src/Client.php']));
  expect(files.filter((file) => !/^(README\.md|composer\.json|src\/(\w+\.php)?)$/.test(file))).toEqual([]);
  // as a registry offers it
  const made = JSON.parse(readFileSync(join(sources, 'composer.json'), 'utf8'));
  const dist = { type: 'tar', url: join(home, 'client.tar') };
  const dir = project('built', [{ type: 'package', package: { ...made, dist } }]);
  await composer(dir, 'require', 'docket/client:^0.2', 'guzzlehttp/guzzle');
  writeFileSync(join(dir, 'use.php'), USE);
  expect(await runIn(dir, 'php', 'use.php', system.api.url, 'built')).toBe('decided handled');
  expect((await ticket(system.api, 'built')).decision).toBe('fine');
  expect(await composer(dir, 'show', 'docket/client')).toMatch(/versions : \* 0\.2\.0/);
}, 60_000);

test('S0.8 the lines of the README install it from a checkout', async () => {
  const readme = readFileSync(join(sources, 'README.md'), 'utf8');
  const lines = /```sh\n([\s\S]*?)```/.exec(readme)?.[1]?.trim() ?? '';
  expect(lines).toMatch(/composer require docket\/client/);
  const dir = project('checkout', []);
  await runIn(dir, 'bash', '-ec', lines.replace('../docket/clients/php', sources));
  writeFileSync(join(dir, 'use.php'), USE);
  expect(await runIn(dir, 'php', 'use.php', system.api.url, 'checkout')).toBe('decided handled');
}, 60_000);
