import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { eventually, type Json } from '../support/client.ts';
import { OwnTemporal } from '../support/own.ts';
import { startTestSystem } from '../support/system.ts';
import { oracle, type Sent, targetsOf } from './oracle.ts';

const temporal = await OwnTemporal.start();
const stores = await temporal.stores();
const { api, sql } = await startTestSystem({}, { role: 'api', stores });
const { drop, logOf, put } = api.reviews;
const env = settingsFor(stores);

const REVIEWS = 20;
const DOWN_MS = 60_000;
const START = Date.parse('2026-11-01T12:00:00.000Z');

/** Callbacks for all of the reviews from several callers at once, numbered from `from` to before `to`. */
async function flood(name: string, from: number, to: number): Promise<void> {
  let next = from;
  const work = async () => {
    for (let n = next++; n < to; n = next++) {
      const auditTime = new Date(START + ((n * 7919) % 1000) * 10).toISOString();
      const target = [{ kind: 'text' }, { kind: 'picture', targetId: `${name}-${n % REVIEWS}-p` }][n % 3 === 0 ? 0 : 1];
      await drop(`${name}-${n % REVIEWS}`, { ...target, status: n, auditTime, callbackId: `${name}-${n}` });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

const applied = async () =>
  (await sql("select count(*)::int as n from review_callback where outcome <> 'pending'"))[0]?.n;

async function create(name: string): Promise<void> {
  for (let n = 0; n < REVIEWS; n++)
    await put(`${name}-${n}`, { text: { status: 0 }, pictures: [{ id: `${name}-${n}-p`, status: 0 }] });
}

/** Every callback has one line, in the order of arrival, with the outcome that the oracle says. */
async function complete(name: string, total: number): Promise<void> {
  await eventually(
    async () => (await sql("select 1 from review_callback where outcome = 'pending'")).length === 0,
    90_000,
  );
  const seen = new Set<string>();
  for (let n = 0; n < REVIEWS; n++) {
    const id = `${name}-${n}`;
    const log = await logOf(id);
    const before = new Map([
      ['text/', 0],
      [`picture/${id}-p`, 0],
    ]);
    const { outcomes, targets } = oracle(
      before,
      log.map((l: Json) => ({ ...l, targetId: l.targetId ?? undefined })) as Sent[],
    );
    expect(log.map((l) => l.outcome)).toEqual(outcomes);
    expect(log.map((l) => Date.parse(l.receivedAt))).toEqual(
      log.map((l) => Date.parse(l.receivedAt)).sort((a, b) => a - b),
    );
    expect(targetsOf((await api.get(`/v1/reviews/${id}`)).body)).toEqual(targets);
    expect((await api.reviews.stores(id)).inStep).toBe(true);
    for (const line of log) seen.add(line.callbackId);
  }
  expect(seen.size).toBe(total);
}

test('S1.2 the worker killed with -9 while callbacks come: none lost, none applied twice, order kept', async () => {
  await create('kill');
  let worker: DocketChild = await startChild('worker', env);
  const ROUNDS = 4;
  const EACH = 500;
  for (let round = 0; round < ROUNDS; round++) {
    const before = await applied();
    // each round has its own, so that there is something to apply for the worker that is started anew
    const coming = flood('kill', round * EACH, (round + 1) * EACH);
    await eventually(async () => (await applied()) > before, 60_000);
    await worker.end('SIGKILL');
    worker = await startChild('worker', env);
    await coming;
  }
  await complete('kill', 2_000);
  await worker.end('SIGTERM');
}, 240_000);

test('S1.2 Temporal down while callbacks come: all are taken, and all are applied when it is back', async () => {
  await create('down');
  const worker = await startChild('worker', env);
  await flood('down', 0, 200);
  temporal.kill();
  for (let next = 200; next < 400; next++) {
    const id = `down-${next % REVIEWS}`;
    await drop(id, {
      kind: 'text',
      status: next,
      auditTime: new Date(START + next * 100).toISOString(),
      callbackId: `down-${next}`,
    });
    await sleep(DOWN_MS / 200);
  }
  expect((await sql("select 1 from review_callback where outcome = 'pending'")).length).toBeGreaterThan(0);
  await temporal.start();
  await complete('down', 400);
  await worker.end('SIGTERM');
}, 240_000);
