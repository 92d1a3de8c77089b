import { afterAll, expect, test, vi } from 'vitest';
import { openDb } from '../../db/pool.ts';
import { Maintenance } from '../../runtime/maintenance.ts';
import type { Bus } from '../../runtime/notify.ts';
import { eventually } from '../support/client.ts';
import { rowsOf } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl } = await testStores({ records: false });
const db = openDb({ url: databaseUrl, node: 'maintained', max: 4 });
afterAll(() => db.end());

const nodes = () => rowsOf<{ id: string; seen_at: Date }>(databaseUrl, 'select id, seen_at from node');

test('S0.9 a chore that hangs and one that fails stop neither the sign of life, nor other chores, nor tidying', async () => {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const bus = { hasPeers: true } as Bus;
  const maintenance = new Maintenance({
    db,
    node: 'maintained',
    url: null,
    role: 'api',
    follower: undefined,
    bus,
    log,
  });
  let end = () => {};
  const hanging = new Promise<void>((resolve) => {
    end = resolve;
  });
  const hangs = vi.fn(() => hanging);
  const works = vi.fn();
  maintenance.add(hangs);
  maintenance.add(() => {
    throw new Error('this chore fails');
  });
  maintenance.add(works);
  await rowsOf(databaseUrl, `insert into node (id, role, seen_at) values ('gone', 'api', now() - interval '2 hours')`);
  await maintenance.start();
  await eventually(async () => (await nodes()).length === 1);
  const [first] = await nodes();
  await eventually(async () => ((await nodes())[0]?.seen_at ?? 0) > (first?.seen_at ?? 0));
  await eventually(async () => works.mock.calls.length > 1);
  expect(hangs).toHaveBeenCalledTimes(1);
  expect(log.warn).toHaveBeenCalledWith({ err: 'this chore fails' }, expect.anything());
  end();
  await maintenance.stop();
  expect(await nodes()).toEqual([]);
});
