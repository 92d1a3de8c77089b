import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { settingsFor } from '../support/child.ts';
import { docket, expectFailure, ROOT } from '../support/cli.ts';
import { eventually, type Json, repeat } from '../support/client.ts';
import { testDoctor, useAllKinds } from '../support/doctor.ts';
import { job } from '../support/jobs.ts';
import { byNight } from '../support/nightly.ts';
import { published } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';
import { addMany, decide, withToken } from '../support/tickets.ts';

vi.setConfig({ testTimeout: 300_000 });

const AT_ONCE = byNight(50, 12);
const WORKFLOWS = 5;

const system = await startTestSystem({ LOG_LEVEL: 'silent' });
const { api, sql, running } = system;
const env = settingsFor(system);
const doctor = testDoctor(system);
const { workflow, schedule } = doctor.client;

const isRunning = async (id: string) => (await workflow.getHandle(id).describe()).status.name === 'RUNNING';
async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of found) list.push(one);
  return list;
}

/** How often each workflow was started, by its id. */
async function runs(ids: string[]): Promise<number[]> {
  const found = await Promise.all(ids.map((id) => all(workflow.list({ query: `WorkflowId = '${id}'` }))));
  return found.map(({ length }) => length);
}

/** Breaks what a repair puts right: workflows, a schedule, one too many, and counts. Gives the workflows' ids. */
async function damage(name: string): Promise<string[]> {
  const many = repeat(WORKFLOWS, (n) => ({ id: `${name}-${n}`, deadlineSeconds: 3_600 }));
  const ids = (await addMany(api, name, many)).map((id) => `ticket/${id}`);
  await api.put(`/v1/topics/${name}/schedules/hourly`, { everySeconds: 3_600, body: 1 });
  for (const id of ids) await eventually(() => isRunning(id));
  await published(running);
  await eventually(async () => (await doctor.broken()).length === 0, 60_000);
  await Promise.all(ids.map((id) => workflow.getHandle(id).terminate('a test')));
  await schedule.getHandle(`schedule/${name}/hourly`).delete();
  await schedule.create({
    scheduleId: `schedule/${name}/stray`,
    spec: { intervals: [{ every: '1 hour' }] },
    action: { type: 'startWorkflow', workflowType: 'periodic', args: [name, 'stray'], taskQueue: 'docket' },
  });
  await sql(`insert into tally_line (kind, queue, what, n) values ('ticket', $1, 'ready', 5)`, [name]);
  const wanted = ['counts', 'schedules-left', 'schedules-missing', 'workflows-missing'];
  await eventually(async () => JSON.stringify((await doctor.broken()).sort()) === JSON.stringify(wanted), 60_000);
  return ids;
}

/** Everything is as it was before, and was put right once. */
async function expectWhole(name: string, ids: string[]): Promise<void> {
  await eventually(async () => (await doctor.broken()).length === 0, 60_000);
  for (const id of ids) await eventually(() => isRunning(id));
  await eventually(async () => (await runs(ids)).every((n) => n === 2), 60_000);
  expect((await api.get(`/v1/queues/${name}/stats`)).body).toMatchObject({ waiting: WORKFLOWS });
  const schedules = (await all(schedule.list())).map(({ scheduleId }) => scheduleId);
  expect(schedules.filter((id) => id.startsWith(`schedule/${name}/`))).toEqual([`schedule/${name}/hourly`]);
  // of the last hour, which is made up for; never the same one twice
  expect((await sql(`select from item where kind = 'job' and queue = $1`, [name])).length).toBeLessThanOrEqual(1);
}

test(`S0.9 ${AT_ONCE} repairs at once put everything right once`, async () => {
  const ids = await damage('crowd');
  const doctors = repeat(AT_ONCE, () => testDoctor(system));
  const ended = await Promise.allSettled(doctors.map((one) => one.findings({ repair: true })));
  expect(ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
  await expectWhole('crowd', ids);
});

test('S0.9 repairs that are killed with -9 leave nothing half done that the next one does not put right', async () => {
  const ids = await damage('killed');
  const began = performance.now();
  expect((await docket(['doctor'], env)).code).toBe(1);
  const wholeMs = performance.now() - began;
  for (const part of [0.5, 0.75, 1]) {
    const args = [join(ROOT, 'cli/docket.mjs'), 'doctor', '--repair'];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
    await sleep(part * wholeMs);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await eventually(async () => (await docket(['doctor', '--repair'], env)).code === 0, 60_000);
  await expectWhole('killed', ids);
});

vi.setConfig({ testTimeout: 200_000 });

const run = (...args: string[]) => docket(['doctor', ...args], env);

test('docket doctor: exit code 0 where nothing is broken, 1 where something is, and 0 again after --repair', async () => {
  await api.put('/v1/topics/jobs/schedules/daily', { everySeconds: 3_600, body: 1 });
  const clean = await eventually(async () => {
    const ended = await run();
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
    const ended = await run('--json');
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

  const repaired = await run('--repair', '--deep');
  expect(repaired.stdout).toContain('Repaired: 1 counts were corrected.');
  expect(repaired.stdout).toContain('Repaired: 1 were made again.');
  expect([repaired.code, repaired.stderr]).toEqual([0, '']);
  expect((await run('--json')).code).toBe(0);
});

test('what it cannot reach it names: the database, and Temporal as a finding beside all others', async () => {
  expectFailure(
    await docket(['doctor'], { ...env, DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/docket' }),
    /^docket doctor: DATABASE_URL: cannot reach PostgreSQL at 127\.0\.0\.1:1/,
  );
  const { code, stdout } = await docket(['doctor'], { ...env, TEMPORAL_NAMESPACE: 'no-such-namespace' });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^found {2}temporal +broken, 1; expected: .*\n {9}Temporal: TEMPORAL_NAMESPACE: .* has no namespace no-such-namespace/m,
  );
  expect(stdout).toMatch(/^ok {4} counts /m);
});

const CALLERS = 50;

/** Adds, claims, and decides, gives back or lets be, on a few tickets and jobs that all want. */
async function act(n: number): Promise<void> {
  const queue = `busy-${n % 5}`;
  for (let round = 0; round < 4; round++) {
    await api.post(`/v1/queues/${queue}/tickets`, { body: n });
    await job(api, 'add', { topic: queue, id: `${n}-${round}-${Math.random()}`, TTR: 60, body: n });
    const { body } = await api.post(`/v1/queues/${queue}/claim`, { reviewer: `r${n}` });
    const [ticket] = body.tickets;
    if (ticket) await (round % 3 === 0 ? withToken(api, ticket, 'release') : decide(api, ticket, n));
    const { id, token } = await job(api, 'pop', { topic: queue });
    if (id !== null && round % 2 === 0) await job(api, 'finish', { id, token });
  }
}

test('S0.6 fifty parallel callers on all kinds while doctor looks again and again: nothing is found broken', async () => {
  await useAllKinds(api, 'before');
  let over = false;
  const work = (async () => {
    await Promise.all([...repeat(CALLERS, (n) => act(n)), useAllKinds(api, 'busy')]);
    await api.get('/v1/feed?after=0&limit=5000');
    over = true;
  })();
  let looks = 0;
  for (; !over || looks < 3; looks++)
    // workflows that end late on a busy machine are no fault
    expect(await doctor.broken({ deep: true, limits: { lines: 2_000, againMs: 1_000, overSeconds: 300 } })).toEqual([]);
  await work;
  await published(running, 240_000);
  const names = async () =>
    Object.keys(await doctor.findings({ deep: true, limits: { againMs: 2_000, overSeconds: 5 } }));
  await eventually(async () => (await names()).length === 0, 60_000).catch(() => {});
  expect(await names()).toEqual([]);
}, 600_000);
