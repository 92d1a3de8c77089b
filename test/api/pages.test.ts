import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type DocketChild, settingsFor, startChild } from '../support/child.ts';
import { type Json, type Reply, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, handed } from '../support/tasks.ts';
import { inMs } from '../support/times.ts';

const PAGE = 4 * 1024 * 1024;
/** A record's body that is nearly as large as a call may have. */
const LARGE = 250_000;
const text = (bytes: number, n: number) => `${n} `.padEnd(bytes, 'x');

const system = await startTestSystem({}, { role: 'api' });
const { api, sql } = system;

interface Shown {
  path: string;
  items: Json[];
  sizes: number[];
}

/** The first pages of a list, and how many bytes each had; every page must have something and go on. */
async function pagesOf(path: string, client = api, most = 100): Promise<Shown> {
  const shown: Shown = { path, items: [], sizes: [] };
  for (let cursor: string | null = ''; cursor !== null && shown.sizes.length < most; ) {
    const next = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { status, body } = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=500${next}`);
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
    expect(body.items.length, path).toBeGreaterThan(0);
    shown.items.push(...body.items);
    shown.sizes.push(Buffer.byteLength(JSON.stringify(body.items)));
    cursor = body.nextCursor;
  }
  return shown;
}

function expectBounded({ path, items, sizes }: Shown, count: number, least: number): void {
  expect(items, path).toHaveLength(count);
  expect(new Set(items.map((i) => JSON.stringify(i))).size, path).toBe(count);
  expect(sizes.length, path).toBeGreaterThanOrEqual(least);
  for (const size of sizes) expect(size, path).toBeLessThanOrEqual(PAGE);
}

/** Makes so many calls at once, which are all answered with this status. */
async function all(count: number, status: number, call: (n: number) => Promise<Reply>): Promise<void> {
  for (const reply of await Promise.all(repeat(count, call)))
    expect(reply.status, JSON.stringify(reply.body).slice(0, 300)).toBe(status);
}

/** The most memory that the process has ever had, in bytes. */
const peakOf = ({ process: { pid } }: DocketChild) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

test('S1.6 a list of large reviews ends its page early, and takes no more memory than a page', async () => {
  const child = await startChild('api', settingsFor(system, { LOG_LEVEL: 'error' }));
  try {
    // letters of two bytes, which compress so well that their stored size says nothing
    await sql(`insert into review (id, record, body)
      select 'large-' || n, '{"text": {"status": 1, "auditTime": null}, "pictures": [], "replies": []}', to_json(n || ' ' || repeat('я', 2500000))
        from generate_series(0, 59) n`);
    for (let n = 0; n < 24; n++)
      await all(1, 201, () => api.put(`/v1/reviews/small-${n}`, { text: { status: 1 }, body: text(LARGE, n) }));
    const before = peakOf(child);
    // the small ones fill pages, each large one is a page of its own
    const { items, sizes } = await pagesOf('/v1/reviews', child.api, 8);
    expect(peakOf(child) - before).toBeLessThan(300 * 1024 * 1024);
    expect(items.map((r) => r.id)).toEqual([
      ...repeat(24, (n) => `small-${23 - n}`),
      ...repeat(6, (n) => `large-${59 - n}`),
    ]);
    expect(items[23].body).toBe(text(LARGE, 0));
    expect(items[24].body).toBe(`59 ${'я'.repeat(2_500_000)}`);
    expect(sizes.filter((size) => size > PAGE)).toHaveLength(6);
  } finally {
    await child.end('SIGTERM');
  }
}, 180_000);

test('S0.5 pages of tickets, their events, jobs, cases and schedules end early', async () => {
  const put = (n: number) => ({ id: `big-${n}`, body: text(LARGE, n) });
  await all(24, 201, (n) => api.post('/v1/queues/big/tickets', put(n)));
  expectBounded(await pagesOf('/v1/tickets?queue=big'), 24, 2);
  expectBounded(await pagesOf('/v1/tickets?state=waiting'), 24, 2);
  const held = (await api.post('/v1/queues/big/claim', { reviewer: 'rita' })).body.tickets[0];
  await api.post(`/v1/tickets/${held.id}/decide`, { token: held.lease.token, decision: text(LARGE, 0) });
  expectBounded(await pagesOf('/v1/tickets?reviewer=rita'), 1, 1);

  for (let n = 0; n < 24; n++) await all(1, 200, () => api.patch('/v1/tickets/big-23', { body: text(LARGE, n) }));
  expectBounded(await pagesOf('/v1/tickets/big-23/events'), 25, 2);

  const topic = { command: 'add', topic: 'big' };
  await all(24, 200, (n) => api.post('/v1/jobs', { ...topic, ...put(n) }));
  expectBounded(await pagesOf('/v1/topics/big/jobs'), 24, 2);
  expectBounded(await pagesOf('/v1/topics/big/jobs?state=ready'), 24, 2);
  const { id } = (await api.post('/v1/jobs', { command: 'pop', topic: 'big' })).body;
  expect((await pagesOf('/v1/topics/big/jobs?state=reserved')).items.map((job) => job.id)).toEqual([id]);
  const schedule = (n: number) => ({ everySeconds: 100_000, body: text(LARGE, n) });
  await all(20, 200, (n) => api.put(`/v1/topics/big/schedules/s-${n}`, schedule(n)));
  expectBounded(await pagesOf('/v1/topics/big/schedules'), 20, 2);

  await api.put('/v1/courts/big', {});
  await all(24, 201, (n) => api.post('/v1/courts/big/cases', put(n)));
  expectBounded(await pagesOf('/v1/cases?court=big'), 24, 2);
  expectBounded(await pagesOf('/v1/cases?state=open'), 24, 2);
}, 180_000);

test('S0.5 pages of queues with large forms end early', async () => {
  const form = (n: number) => ({ type: 'object', description: text(LARGE - 100, n) });
  await all(20, 200, (n) => api.put(`/v1/queues/form-${n}`, { form: form(n) }));
  const { items, sizes } = await pagesOf('/v1/queues');
  expect(items.filter((q) => q.form)).toHaveLength(20);
  expect(sizes.length).toBeGreaterThanOrEqual(2);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(PAGE);
});

test('S4.9 pages of tasks, templates and the dispatch log end early, also with their occurrences', async () => {
  const names = repeat(150, (n) => `${n}-`.padEnd(190, 'p'));
  const params = Object.fromEntries(names.map((name) => [name, { type: 'string', required: false }]));
  await all(200, 201, (n) => api.post('/v1/templates', { id: `t-${n}`, name: `t-${n}`, params }));
  expectBounded(await pagesOf('/v1/templates'), 200, 2);

  await addTemplate(api, 'one', { text: { type: 'string' } });
  const task = { templateId: 'one', executor: 'uid_rita' };
  for (let n = 0; n < 20; n++) await addTask(api, { id: `big-${n}`, ...task, params: { text: text(LARGE, n) } });
  expectBounded(await pagesOf('/v1/tasks?executor=uid_rita'), 20, 2);
  for (let n = 0; n < 20; n++) {
    const { logId } = await handed(api, 'rita');
    await all(1, 200, () => api.post('/v1/clients/rita/complete', { logId, result: text(LARGE, n) }));
  }
  expectBounded(await pagesOf('/v1/dispatch-log?uid=rita'), 40, 3);

  // 60 tasks with 1,000 occurrences each
  const often = { ...task, executor: 'uid_otto', type: 'rotate', everyMinutes: 1, startTime: inMs(3_600_000) };
  for (let n = 0; n < 60; n++) await addTask(api, { id: `often-${n}`, ...often, params: { text: `${n}` } });
  const to = encodeURIComponent(inMs(30 * 86_400_000));
  const shown = await pagesOf(`/v1/tasks?executor=uid_otto&expand=occurrences&to=${to}`);
  expectBounded(shown, 60, 2);
  expect(shown.items.every((t) => t.occurrences.length === 1_000 && t.moreFrom !== null)).toBe(true);
}, 180_000);

test('S0.5 an entry of a batch is bounded like a call of its own, and harms no other', async () => {
  const large = text(300_000, 0);
  const entries = [1, large, 3].map((body, n) => ({ id: `b-${n + 1}`, body }));
  const expectOutcomes = (reply: Reply, ...outcomes: unknown[]) => {
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(reply.body.results.map((r: Json) => r.code ?? r.httpStatus ?? r.success)).toEqual(outcomes);
  };
  const tooLarge = 'payload_too_large';
  const batch = await api.post('/v1/queues/batch/tickets/batch', { tickets: entries });
  expectOutcomes(batch, 201, tooLarge, 201);
  expect(batch.body.results[1]).toMatchObject({ id: 'b-2', httpStatus: 413 });
  await api.put('/v1/courts/batch', {});
  expectOutcomes(await api.post('/v1/courts/batch/cases/batch', { cases: entries }), 201, tooLarge, 201);
  const jobs = entries.map((e) => ({ topic: 'batch', ...e }));
  expectOutcomes(await api.post('/v1/jobs', { command: 'add', jobs }), true, tooLarge, true);
  const items = [large, 'ok'].map((decision, n) => ({ id: `b-${2 * n + 1}`, decision }));
  expectOutcomes(await api.post('/v1/tickets/resolve', { items, reason: 'elsewhere' }), tooLarge, 200);
  expect((await api.get('/v1/tickets/b-1')).body.state).toBe('waiting');
  const gold = { cases: [{ id: 'g-1', body: large, answer: 'buyer' }] };
  expect((await api.put('/v1/courts/batch/gold', gold)).body).toMatchObject({ status: 413, code: 'payload_too_large' });
});

test('S4.3 a list of groups shows how many members each has, and not whom', async () => {
  const members = repeat(100_000, (n) => `member-${n}`);
  await all(1, 200, () => api.put('/v1/groups/crowd', { members }));
  await all(1, 200, () => api.post('/v1/groups/crowd/members', { remove: members.slice(0, 10), add: ['late'] }));
  const { body } = await api.get('/v1/groups');
  expect(body.items).toEqual([
    { id: 'crowd', size: 99_991, createdAt: expect.any(String), updatedAt: expect.any(String) },
  ]);
  expect((await api.get('/v1/groups/crowd')).body).toMatchObject({ size: 99_991 });
  await all(1, 200, () => api.put('/v1/groups/crowd', { members: ['only'] }));
  expect((await api.get('/v1/groups')).body.items).toMatchObject([{ id: 'crowd', size: 1 }]);
});
