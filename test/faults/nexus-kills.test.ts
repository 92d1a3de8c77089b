import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { CALLERS } from '../doors/callers.ts';
import { launch, startChild } from '../support/child.ts';
import { eventTypes, eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { pidIn } from '../support/processes.ts';

const MANY = byNight(1_000, 30);
const data = join(ownFolder('nexus'), 'data');
const port = await lastingPort();
const env = {
  ...{ DOCKET_DATA: data, DOCKET_CACHE: inject('cacheDir'), PORT: String(await lastingPort()) },
  ...{ TEMPORAL_PORT: String(port), TEMPORAL_UI_PORT: '0' },
};
let docket = await startChild('start', env);

const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
await connection.workflowService.registerNamespace({ namespace: 'shop', workflowExecutionRetentionPeriod });
const { workflow } = new Client({ connection, namespace: 'shop' });
const python = await (CALLERS.python as () => Promise<string[]>)();
const callers = launch(python, { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_NAMESPACE: 'shop' });

/** A call of somebody who repeats it until it is answered. */
const persist = <T>(call: () => Promise<T>): Promise<T> =>
  eventually(() => call().catch(() => undefined), 120_000) as never;

const ask = (id: string) =>
  persist(() =>
    workflow.start('ask', {
      ...{ workflowId: id, taskQueue: 'python', workflowIdConflictPolicy: 'USE_EXISTING' },
      args: ['docket', 'ticket', { queue: 'approvals', id, body: { id } }],
    }),
  );

/** Claims and decides so many tickets, whatever is killed meanwhile. */
async function decide(many: number): Promise<void> {
  for (let done = 0; done < many; ) {
    const { tickets = [] } = await persist(
      async () => (await docket.api.post('/v1/queues/approvals/claim', { reviewer: 'ben', waitSeconds: 2 })).body,
    );
    for (const { id, lease } of tickets as Json[]) {
      const decision = { id };
      const answer = await persist(() => docket.api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision }));
      if (answer.status === 200) done++;
    }
  }
}

test('B.1 workflows in Python wait while everything is killed in turn: each goes on with its decision, once', async () => {
  await eventually(async () => callers.output().includes('ready'), 60_000);
  const ids = repeat(MANY, (n) => `order-${n}`);
  const handles = [];
  for (const id of ids) handles.push(await ask(id));
  const kills = [
    () => process.kill(pidIn(data, 'postgres/postmaster.pid'), 'SIGKILL'),
    () => process.kill(pidIn(data, 'temporal/temporal.pid'), 'SIGKILL'),
    async () => {
      await docket.end('SIGKILL');
      docket = await startChild('start', env);
    },
  ];
  for (const kill of kills) {
    const deciding = decide(Math.floor(MANY / (kills.length + 1)));
    await kill();
    await deciding;
  }
  await decide(MANY - kills.length * Math.floor(MANY / (kills.length + 1)));
  for (const [n, handle] of handles.entries())
    expect(await persist(() => handle.result())).toMatchObject({
      state: 'decided',
      decision: { id: ids[n] },
      decidedBy: 'ben',
    });
  for (const id of ids) {
    const types = await persist(() => eventTypes(docket.api, id));
    expect(types.filter((type) => type === 'created' || type === 'decided')).toEqual(['created', 'decided']);
  }

  const took: number[] = [];
  for (let n = 0; n < byNight(100, 10); n++) {
    const handle = await ask(`quiet-${n}`);
    await decide(1);
    const began = performance.now();
    await handle.result();
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  process.stdout.write(
    `decision answered → caller resumed: median ${took[took.length >> 1]?.toFixed(0)} ms, most ${took.at(-1)?.toFixed(0)} ms\n`,
  );
  await callers.end('SIGTERM');
  expect(await docket.end('SIGTERM')).toBe(0);
  await connection.close();
}, 1_800_000);
