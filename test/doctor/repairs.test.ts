import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { settingsFor } from '../support/child.ts';
import { docket, ROOT } from '../support/cli.ts';
import { eventually, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { byNight } from '../support/nightly.ts';
import { published } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';
import { addMany } from '../support/tickets.ts';

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
