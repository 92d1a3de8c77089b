import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';

import { settingsFor, startChild } from '../support/child.ts';
import { type Client, type Json, numbered } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { addTask, addTemplate, complete, completed, dispatchLog, handed, next, putGroup } from '../support/tasks.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { stores });
await addTemplate(api, 'plain');
const process = () => startChild('api', settingsFor(stores));

/** A wire to a server that swallows all that the server says. */
async function deafWire(url: string): Promise<{ url: string; answered: Promise<void>; close(): void }> {
  const sockets: Socket[] = [];
  let heard = () => {};
  const answered = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const server = createServer();
  server.removeAllListeners('request');
  server.on('connection', (caller: Socket) => {
    const target = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.push(caller, target);
    caller.pipe(target);
    target.on('data', heard);
    for (const s of [caller, target]) s.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    close() {
      for (const s of sockets) s.destroy();
      server.close();
    },
  };
}

test('S4.5 the API dies by kill -9 between dispatch and answer: asked again, it is the same log id, and the stock is right', async () => {
  const users = numbered(8, 'dead-');
  await putGroup(api, 'dead', users);
  await addTask(api, { id: 'dead', executor: 'gid_dead', dispatchTimes: 5 });
  const child = await process();
  const wire = await deafWire(child.api.url);
  const call = request(`${wire.url}/v1/clients/dead-0/next`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  call.on('error', () => {});
  call.end('{}');
  await wire.answered;
  await child.end('SIGKILL');
  wire.close();
  const [line] = await dispatchLog(api, 'uid=dead-0');
  expect(line).toMatchObject({ type: 'dispatched', taskId: 'dead' });
  expect(await handed(api, 'dead-0')).toMatchObject({ redo: true, logId: line?.logId });
  const given = (await Promise.all(users.map((uid) => next(api, uid)))).filter((a) => a.task);
  expect(given).toHaveLength(5);
});

/** Works through everything, on whichever server answers; a call that got no answer is made again. */
async function work(servers: Client[], uid: string): Promise<string[]> {
  const done: string[] = [];
  for (let n = 0; ; n++) {
    try {
      const server = servers[n % servers.length] as Client;
      const { task, logId } = await next(server, uid);
      if (!task) return done;
      for (let tries = 0; ; tries++) {
        const answer = await complete(servers[(n + tries) % servers.length] as Client, uid, logId, task.id).catch(
          () => null,
        );
        if (answer?.status === 200) break;
        if (answer && answer.status < 500) throw new Error(JSON.stringify(answer.body));
      }
      done.push(task.id);
    } catch (error) {
      if (!/fetch failed|terminated/.test(String(error))) throw error;
    }
  }
}

test('S4.4 S4.11 one of two servers dies by kill -9 while 16 users pull 600 dispatches: each is given and completed once', async () => {
  const users = numbered(16, 'storm-');
  await putGroup(api, 'storm', users);
  for (let n = 0; n < 200; n++) await addTask(api, { id: `storm-${n}`, executor: 'gid_storm', dispatchTimes: 3 });
  const child = await process();
  const working = Promise.all(users.map((uid) => work([child.api, api], uid)));
  setTimeout(() => void child.end('SIGKILL'), 700);
  await working;
  for (let n = 0; n < 200; n++) {
    const log = await dispatchLog(api, `taskId=storm-${n}`);
    const of = (type: string) => log.filter((l: Json) => l.type === type).map((l: Json) => l.uid);
    expect(new Set(of('completed')).size).toBe(3);
    expect(of('dispatched').sort()).toEqual(of('completed').sort());
  }
});

test('S4.7 the answer to a completion is lost: made again, anywhere, it is the same answer and one line', async () => {
  await addTask(api, { id: 'lost', executor: 'uid_lost' });
  const { logId } = await handed(api, 'lost');
  const child = await process();
  const wire = await deafWire(child.api.url);
  const call = request(`${wire.url}/v1/clients/lost/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  call.on('error', () => {});
  call.end(JSON.stringify({ logId, result: 1 }));
  await wire.answered;
  await child.end('SIGKILL');
  wire.close();
  const { completedAt } = await completed(api, 'lost', logId, 1);
  const log = await dispatchLog(api, 'uid=lost');
  expect(log.map((l) => l.type)).toEqual(['dispatched', 'completed']);
  expect(log[1]?.at).toBe(completedAt);
});
