import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';

import { settingsFor, startChild } from '../support/child.ts';
import { type Client, type Json, numbered } from '../support/client.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { stores });
const { addTask, addTemplate, completed, dispatchLog, handed, next, putGroup } = api.tasks;
await addTemplate('plain');
const process = () => startChild('api', settingsFor(stores));

/** Calls a process that is killed with -9 once it has answered; the answer gets lost. */
async function unheard(path: string, body: object): Promise<void> {
  const child = await process();
  const sockets: Socket[] = [];
  const wire = createServer((caller) => {
    const target = connect(Number(new URL(child.api.url).port), '127.0.0.1');
    sockets.push(caller, target);
    caller.pipe(target);
    target.on('data', () => wire.emit('answered'));
    for (const s of [caller, target]) s.on('error', () => {});
  });
  await once(wire.listen(0, '127.0.0.1'), 'listening');
  const { port } = wire.address() as AddressInfo;
  const headers = { 'content-type': 'application/json' };
  const call = fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const lost = call.catch(() => {});
  await once(wire, 'answered');
  await child.end('SIGKILL');
  for (const s of sockets) s.destroy();
  wire.close();
  await lost;
}

test('S4.5 the API dies by kill -9 between dispatch and answer: asked again, it is the same log id, and the stock is right', async () => {
  const users = numbered(8, 'dead-');
  await putGroup('dead', users);
  await addTask({ id: 'dead', executor: 'gid_dead', dispatchTimes: 5 });
  await unheard('/v1/clients/dead-0/next', {});
  const [line] = await dispatchLog('uid=dead-0');
  expect(line).toMatchObject({ type: 'dispatched', taskId: 'dead' });
  expect(await handed('dead-0')).toMatchObject({ redo: true, logId: line?.logId });
  const given = (await Promise.all(users.map((uid) => next(uid)))).filter((a) => a.task);
  expect(given).toHaveLength(5);
});

/** Works through everything, on whichever server answers; a call that got no answer is made again. */
async function work(servers: Client[], uid: string): Promise<string[]> {
  const done: string[] = [];
  for (let n = 0; ; n++) {
    try {
      const server = servers[n % servers.length] as Client;
      const { task, logId } = await server.tasks.next(uid);
      if (!task) return done;
      for (let tries = 0; ; tries++) {
        const next = servers[(n + tries) % servers.length] as Client;
        const answer = await next.tasks.complete(uid, logId, task.id).catch(() => null);
        if (answer?.status === 200) break;
        if (answer && answer.status < 500) throw new Error(JSON.stringify(answer.body));
      }
      done.push(task.id);
    } catch (error) {
      if (!/ECONN|EPIPE|socket hang up|aborted/.test(String(error))) throw error;
    }
  }
}

test('S4.4 S4.11 one of two servers dies by kill -9 while 16 users pull 600 dispatches: each is given and completed once', async () => {
  const users = numbered(16, 'storm-');
  await putGroup('storm', users);
  for (let n = 0; n < 200; n++) await addTask({ id: `storm-${n}`, executor: 'gid_storm', dispatchTimes: 3 });
  const child = await process();
  const working = Promise.all(users.map((uid) => work([child.api, api], uid)));
  setTimeout(() => void child.end('SIGKILL'), 700);
  await working;
  for (let n = 0; n < 200; n++) {
    const log = await dispatchLog(`taskId=storm-${n}`);
    const of = (type: string) => log.filter((l: Json) => l.type === type).map((l: Json) => l.uid);
    expect(new Set(of('completed')).size).toBe(3);
    expect(of('dispatched').sort()).toEqual(of('completed').sort());
  }
}, 180_000);

test('S4.7 the answer to a completion is lost: made again, anywhere, it is the same answer and one line', async () => {
  await addTask({ id: 'lost', executor: 'uid_lost' });
  const { logId } = await handed('lost');
  await unheard('/v1/clients/lost/complete', { logId, result: 1 });
  const { completedAt } = await completed('lost', logId, 1);
  const log = await dispatchLog('uid=lost');
  expect(log.map((l) => l.type)).toEqual(['dispatched', 'completed']);
  expect(log[1]?.at).toBe(completedAt);
});
