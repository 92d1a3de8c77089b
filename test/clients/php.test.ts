import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { eventTypes, eventually } from '../support/client.ts';
import { lastingPort } from '../support/ports.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, ticket } from '../support/tickets.ts';
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
    if (asked.length === 1) response.end();
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
