import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { openDb } from '../../db/pool.ts';
import { Secrets } from '../../runtime/secrets.ts';
import { type Finding, findingOf } from '../../services/doctor/checks.ts';
import { type DoctorOptions, diagnose } from '../../services/doctor/doctor.ts';
import { addCase, claimed, court, jurors, voted } from './cases.ts';
import { type Client as Api, insist } from './client.ts';
import { atEndOfFile } from './endings.ts';
import { job } from './jobs.ts';
import { put } from './reviews.ts';
import type { TestStores } from './system.ts';
import { addTask, addTemplate, completed, handed, next } from './tasks.ts';
import { add, claim, configure, decide } from './tickets.ts';
import { HOUR_MS, inMs } from './times.ts';

/** What a test's own server has for the sake of speed, and what a test has on purpose. */
const EXPECTED = new Set(['settings', 'versions']);

interface TestDoctor {
  client: Client;
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** All that is found. */
  all(more?: Partial<DoctorOptions>): Promise<Finding[]>;
  /** The same by the name of the check, but for what a test's servers always have. */
  findings(more?: Partial<DoctorOptions>): Promise<Record<string, Finding>>;
  /** The names of checks that found something broken. */
  broken(more?: Partial<DoctorOptions>): Promise<string[]>;
}

/**
 * `docket doctor` on connections of its own.
 * @param againMs when it looks again: at once where only the test changes anything
 */
export function testDoctor({ databaseUrl, namespace }: Omit<TestStores, 'temporalAddress'>, againMs = 500): TestDoctor {
  const db = openDb({ url: databaseUrl, node: 'doctor-test', max: 1 });
  const connection = Connection.lazy({ address: inject('temporal') });
  const client = new Client({ connection, namespace });
  atEndOfFile(async () => {
    await db.end();
    await connection.close();
  });
  const all: TestDoctor['all'] = async ({ limits, ...more } = {}) => {
    const results = await diagnose({
      ...{ db, client, version: 'test', secrets: new Secrets(), deep: false, repair: false },
      ...more,
      limits: { againMs, overSeconds: 1, ...limits },
    });
    return results.flatMap((result) => findingOf(result) ?? []);
  };
  const findings: TestDoctor['findings'] = async (more) => {
    const unexpected = (await all(more)).filter(({ check }) => !EXPECTED.has(check));
    return Object.fromEntries(unexpected.map((finding) => [finding.check, finding]));
  };
  return {
    client,
    sql: async (text, values) => (await db.pool.query(text, values)).rows,
    ...{ all, findings },
    broken: async (more) =>
      Object.values(await findings(more))
        .filter(({ severity, count }) => severity === 'broken' && count > 0)
        .map(({ check }) => check),
  };
}

/** Has something of each kind in each of its usual states; `prefix` begins all names. */
export async function useAllKinds(api: Api, prefix: string): Promise<void> {
  await tickets(api, prefix);
  await jobs(api, prefix);
  await cases(api, prefix);
  await tasks(api, prefix);
  const review = { text: { status: 1 }, pictures: [{ id: `${prefix}-p`, status: 1 }] };
  await put(api, `${prefix}-review`, review);
  insist(await api.post(`/v1/reviews/${prefix}-review/callbacks`, { kind: 'text', status: 2 }), 'callback', 202);
  // applies what has come, also where no worker runs
  await put(api, `${prefix}-review`, review, 200);
}

async function tickets(api: Api, prefix: string): Promise<void> {
  const queue = `${prefix}-tickets`;
  await configure(api, queue, { leaseSeconds: 600, maxHeld: 3 });
  await add(api, queue, { id: `${prefix}-delayed`, delaySeconds: 3_600 });
  for (const name of ['decided', 'held', 'waits']) await add(api, queue, { id: `${prefix}-${name}` });
  const [first] = (await claim(api, queue, 'ann')).tickets;
  insist(await decide(api, first), 'decision', 200);
  await claim(api, queue, 'ann');
}

async function jobs(api: Api, prefix: string): Promise<void> {
  const topic = `${prefix}-topic`;
  const fields = { topic, TTR: 600, body: 1 };
  for (const name of ['finished', 'reserved', 'ready'])
    await job(api, 'add', { ...fields, id: `${prefix}-job-${name}` });
  await job(api, 'add', { ...fields, id: `${prefix}-job-delayed`, delay: 3_600 });
  const { id, token } = await job(api, 'pop', { topic });
  await job(api, 'finish', { id, token });
  await job(api, 'pop', { topic });
}

async function cases(api: Api, prefix: string): Promise<void> {
  const name = `${prefix}-court`;
  await court(api, name, { options: ['yes', 'no'], votesToWin: 2 });
  await jurors(api, name, [`${prefix}-a`, `${prefix}-b`, `${prefix}-c`]);
  await addCase(api, name, { id: `${prefix}-case` });
  for (const juror of ['a', 'b']) {
    const { id, token } = await claimed(api, name, `${prefix}-${juror}`);
    await voted(api, id, token, 'yes');
  }
  await addCase(api, name, { id: `${prefix}-open` });
  const { id, token } = await claimed(api, name, `${prefix}-a`);
  await voted(api, id, token, 'no');
  await claimed(api, name, `${prefix}-b`);
}

async function tasks(api: Api, prefix: string): Promise<void> {
  await addTemplate(api, 'plain');
  const executor = `uid_${prefix}`;
  await addTask(api, { id: `${prefix}-once`, executor });
  const { logId } = await handed(api, prefix);
  await completed(api, prefix, logId);
  await addTask(api, { id: `${prefix}-twice`, executor, dispatchTimes: 2 });
  await addTask(api, { id: `${prefix}-later`, executor, startTime: inMs(HOUR_MS) });
  await addTask(api, { id: `${prefix}-hourly`, executor, type: 'rotate', startTime: inMs(HOUR_MS), everyMinutes: 60 });
  await next(api, prefix);
}
