import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Bus, type Hint } from '../../runtime/notify.ts';
import { eventually } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl } = await testStores({ records: false });
const notify = (payload: string) => rowsOf(databaseUrl, `select pg_notify('docket', $1)`, [payload]);

async function startBus(node: string) {
  const hints: Hint[] = [];
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const onGap = vi.fn();
  const bus = new Bus({ url: databaseUrl, node, log, onHint: (hint) => hints.push(hint), onGap, publish: notify });
  await bus.start();
  const listening = `from pg_stat_activity where application_name = 'docket ${node} listen'`;
  return {
    ...{ bus, hints, log, onGap },
    connections: async () => (await rowsOf(databaseUrl, `select pid ${listening}`)).length,
    cut: () => rowsOf(databaseUrl, `select pg_terminate_backend(pid) ${listening}`),
  };
}

test('S0.9 notifications that are not of Docket are ignored, and those that come after them are not', async () => {
  const { bus, hints, log } = await startBus('foreign');
  for (const payload of ['x', '', 'null', '7', '{}', '{"node":"another","notices":true}']) await notify(payload);
  await eventually(async () => hints.length > 0);
  expect(hints).toEqual([{ node: 'another', notices: true }]);
  expect(log.warn).toHaveBeenCalledTimes(5);
  await bus.stop();
});

test('S0.9 a connection that is lost is made again, but not once it is to be stopped', async () => {
  const { bus, onGap, connections, cut } = await startBus('lost');
  await cut();
  await eventually(async () => onGap.mock.calls.length === 1);
  expect(await connections()).toBe(1);
  await cut();
  await eventually(async () => (await connections()) === 0);
  await bus.stop();
  await sleep(1_500);
  expect(await connections()).toBe(0);
});
