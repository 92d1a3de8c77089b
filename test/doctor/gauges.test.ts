import { expect, test } from 'vitest';
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
