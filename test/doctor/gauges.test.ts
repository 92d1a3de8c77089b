import { expect, test, vi } from 'vitest';
import { InvariantMonitor } from '../../services/doctor/invariants.ts';
import { eventually } from '../support/client.ts';
import { useAllKinds } from '../support/doctor.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { invariants } = running.services;

const gauges = async () => {
  const text = (await api.get('/metrics')).body as string;
  const lines = [...text.matchAll(/^docket_invariant_violations\{check="([a-z-]+)".*\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, check, n]) => [check, Number(n)]));
};

test('each invariant is a gauge that is 0, and not 0 once it is broken', async () => {
  await useAllKinds(api, 'x');
  expect(await gauges()).toEqual({});
  await invariants.lookAtAll();
  const names = ['counts', 'states', 'log', 'holds', 'leases', 'cases', 'stock', 'reviews', 'outcomes', 'feed'];
  expect(await gauges()).toEqual(Object.fromEntries(names.map((name) => [name, 0])));
  await sql(`update case_file set holds = holds + 1`);
  await sql(`insert into tally_line (kind, queue, what, n) values ('job', 'a', 'ready', 1), ('job', 'b', 'ready', 1)`);
  await invariants.lookAtAll();
  expect(await gauges()).toMatchObject({ counts: 2, cases: 2, log: 0 });
});

test('one API process looks, one invariant at a time, and no other shows any', async () => {
  const { runtime } = running;
  // a worker inside a program has the address of the program, and is the first of all
  await sql(
    `insert into node (id, url, role, seen_at) values ('-', 'http://program', 'worker', now() + interval '1 hour')`,
  );
  const chores: (() => void | Promise<void>)[] = [];
  const maintenance = { add: (chore: () => void) => chores.push(chore) };
  const monitorOf = (node: string) =>
    new InvariantMonitor({ ...runtime, node, maintenance } as unknown as typeof runtime);
  const [looks, other] = [monitorOf(runtime.node), monitorOf('another')];
  await Promise.all(chores.map((chore) => chore()));
  // nothing in the first minute
  expect(looks.violations.size).toBe(0);
  const began = performance.now();
  let laterMs = 61_000;
  vi.spyOn(performance, 'now').mockImplementation(() => began + laterMs);
  for (let round = 1; round <= 12; round++, laterMs += 5_000) {
    for (const chore of chores) await chore();
    await eventually(async () => looks.violations.size === Math.min(round, 10));
  }
  expect(other.violations.size).toBe(0);
  expect(looks.violations.get('cases')).toBe(2);
  await sql('update case_file set holds = holds - 1');
  laterMs += 300_000;
  for (let round = 1; round <= 10; round++, laterMs += 5_000) {
    for (const chore of chores) await chore();
    await looks.idle();
  }
  vi.restoreAllMocks();
  // the counts are looked at once in an hour
  expect([looks.violations.get('cases'), looks.violations.get('counts')]).toEqual([0, 2]);
});
