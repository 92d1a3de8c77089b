import { expect, test, vi } from 'vitest';
import { settingsFor } from '../support/child.ts';
import { docketHere, expectFailure } from '../support/cli.ts';
import { eventually, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

vi.setConfig({ testTimeout: 200_000 });

const system = await startTestSystem({ LOG_LEVEL: 'silent' });
const { api, sql, running } = system;
const env = settingsFor(system);
const doctor = (...args: string[]) => docketHere(['doctor', ...args], env);

test('docket doctor: exit code 0 where nothing is broken, 1 where something is, and 0 again after --repair', async () => {
  await api.put('/v1/topics/jobs/schedules/daily', { everySeconds: 3_600, body: 1 });
  const clean = await eventually(async () => {
    const ended = await doctor();
    return ended.code === 0 ? ended : null;
  }, 60_000);
  expect(clean.stderr).toBe('');
  expect(clean.stdout).toMatch(/^ok {4} counts +counts of items and deliveries are those of the rows$/m);
  expect(clean.stdout).toMatch(/^info {2} versions +Docket \d\S+, schema edition \d+, PostgreSQL \S.*, Temporal \S+$/m);
  // a server of tests, which may lose what is committed: a warning is not what the exit code says
  expect(clean.stdout).toMatch(/^found {2}settings +warning, \d; expected: .*\n {9}fsync: is off/m);
  expect(clean.stdout).toMatch(/Nothing is broken\.\n$/);

  await running.runtime.client.schedule.getHandle('schedule/jobs/daily').delete();
  await sql(`insert into tally_line (kind, queue, what, n) values ('job', 'jobs', 'ready', 2)`);
  const broken = await eventually(async () => {
    const ended = await doctor('--json');
    return (JSON.parse(ended.stdout) as Json[]).some(({ check }) => check === 'schedules-missing') ? ended : null;
  }, 60_000);
  expect([broken.code, broken.stderr]).toEqual([1, '']);
  const findings = JSON.parse(broken.stdout) as Json[];
  for (const finding of findings)
    expect(finding).toEqual({
      ...{ check: expect.any(String), severity: expect.stringMatching(/^(broken|warning|info)$/) },
      ...{ count: expect.any(Number), examples: expect.any(Array), advice: expect.any(String) },
    });
  expect(findings.filter(({ severity }) => severity === 'broken')).toEqual([
    expect.objectContaining({ check: 'counts', count: 1, examples: ['job/jobs ready: 2 counted, 0 rows'] }),
    expect.objectContaining({ check: 'schedules-missing', count: 1, examples: ['schedule/jobs/daily'] }),
  ]);

  const repaired = await doctor('--repair', '--deep');
  expect(repaired.stdout).toContain('Repaired: 1 counts were corrected.');
  expect(repaired.stdout).toContain('Repaired: 1 were made again.');
  expect([repaired.code, repaired.stderr]).toEqual([0, '']);
  expect((await doctor('--json')).code).toBe(0);
});

test('what it cannot reach it names: the database, and Temporal as a finding beside all others', async () => {
  expectFailure(
    await docketHere(['doctor'], { ...env, DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/docket' }),
    /^docket doctor: DATABASE_URL: cannot reach PostgreSQL at 127\.0\.0\.1:1/,
  );
  const { code, stdout } = await docketHere(['doctor'], { ...env, TEMPORAL_NAMESPACE: 'no-such-namespace' });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^found {2}temporal +broken, 1; expected: .*\n {9}Temporal: TEMPORAL_NAMESPACE: .* has no namespace no-such-namespace/m,
  );
  expect(stdout).toMatch(/^ok {4} counts /m);
});
