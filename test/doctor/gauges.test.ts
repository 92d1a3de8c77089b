import { expect, test, vi } from 'vitest';
import { checkAll, checkNext, violations } from '../../services/doctor/invariants.ts';
import { useAllKinds } from '../support/doctor.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, running } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
const { ctx } = running;

const gauges = async () => {
  const text = (await api.get('/metrics')).body as string;
  const lines = [...text.matchAll(/^docket_invariant_violations\{check="([a-z-]+)".*\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, check, n]) => [check, Number(n)]));
};

test('each invariant is a gauge that is 0, and not 0 once it is broken', async () => {
  await useAllKinds(api, 'x');
  expect(await gauges()).toEqual({});
  await checkAll(ctx);
  const names = [
    ...['counts', 'states', 'log', 'waits', 'looks', 'holds', 'quotas', 'leases', 'cases', 'stock', 'reviews'],
    ...['outcomes', 'feed'],
  ];
  expect(await gauges()).toEqual(Object.fromEntries(names.map((name) => [name, 0])));
  await sql(`update case_file set holds = holds + 1`);
  await sql(`insert into tally_line (kind, queue, what, n) values ('job', 'a', 'ready', 1), ('job', 'b', 'ready', 1)`);
  await checkAll(ctx);
  expect(await gauges()).toMatchObject({ counts: 2, cases: 2, log: 0 });
});

test('one API process looks, one invariant at a time, and no other shows any', async () => {
  // a worker inside a program has the address of the program, and is the first of all
  await sql(
    `insert into node (id, url, role, seen_at) values ('-', 'http://program', 'worker', now() + interval '1 hour')`,
  );
  const [first, other] = [{ ...ctx }, { ...ctx, node: 'another' }];
  const round = () => Promise.all([checkNext(first), checkNext(other)]);
  await round();
  // nothing in the first minute
  expect(violations(first).size).toBe(0);
  const began = performance.now();
  let laterMs = 61_000;
  vi.spyOn(performance, 'now').mockImplementation(() => began + laterMs);
  for (let rounds = 1; rounds <= 13; rounds++, laterMs += 5_000) {
    await round();
    expect(violations(first).size).toBe(Math.min(rounds, 13));
  }
  expect(violations(other).size).toBe(0);
  expect(violations(first).get('cases')).toBe(2);
  await sql('update case_file set holds = holds - 1');
  laterMs += 300_000;
  for (let rounds = 1; rounds <= 13; rounds++, laterMs += 5_000) await round();
  vi.restoreAllMocks();
  // the counts are checked once in an hour
  expect([violations(first).get('cases'), violations(first).get('counts')]).toEqual([0, 2]);
});
