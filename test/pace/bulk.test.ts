import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { claimOne, eventually, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { published, unpublished } from '../support/published.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const { api, running } = await startTestSystem({}, { stores: await testStores() });

// A core is taken from the system in both phases, so that what is compared is a busy machine with itself.
const hog = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
afterAll(() => hog.kill('SIGKILL'));

const PLAIN = 20_000;
const ROUNDS = 12;
const ENDED = byNight(20_000, 1_000);
/** What the scheduler of a shared machine of two cores adds by itself; schedules are on a grid of a second. */
const NOISE_MS = { running: 200, fresh: 200, audit: 200, schedule: 1_000 };

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function arrival({ received }: Receiver, id: string, since: number): Promise<number> {
  const call = await eventually(async () => received.find((r) => r.body.includes(`"${id}"`)), 120_000);
  return call.at - since;
}

/** From the decision of a ticket that has been waiting to its callback. */
async function verdictOfRunning(receiver: Receiver, id: string): Promise<number> {
  const ticket = await claimOne(api, 'verdicts', `reviewer-${id}`);
  const since = performance.now();
  await api.post(`/v1/tickets/${ticket.id}/decide`, { token: ticket.lease.token, decision: 1 });
  return arrival(receiver, ticket.id, since);
}

/** The same of a ticket that is new, so that its workflow has yet to be started. */
async function verdictOfNew(receiver: Receiver, id: string): Promise<number> {
  const { callback } = receiver;
  await api.post('/v1/queues/fresh/tickets', { id, body: {}, callback });
  const since = performance.now();
  await api.post(`/v1/tickets/${id}/resolve`, { decision: 1, reason: 'decided elsewhere' });
  return arrival(receiver, id, since);
}

async function audit(id: string): Promise<number> {
  await api.put(`/v1/reviews/${id}`, { text: { status: 0 }, pictures: [], replies: [] });
  const since = performance.now();
  const { body } = await api.post(`/v1/reviews/${id}/callbacks`, { kind: 'text', status: 1, waitSeconds: 60 });
  expect(body.outcome).toBe('applied');
  return performance.now() - since;
}

/** How late the firings of the schedule were that came since the last look. */
async function firings(): Promise<number[]> {
  const { body } = await api.post('/v1/jobs', { command: 'pop', topic: 'ticks', count: 100, wait: 5 });
  const late: number[] = [];
  for (const { id } of body.jobs) {
    const job = (await api.get(`/v1/jobs/${id}`)).body;
    late.push(Date.parse(job.createdAt) - Date.parse(id.split('@')[1]));
    await api.post('/v1/jobs', { command: 'finish', id });
  }
  return late;
}

async function measure(phase: string, receiver: Receiver) {
  const found = { running: [] as number[], fresh: [] as number[], audit: [] as number[], schedule: [] as number[] };
  for (let n = 0; n < ROUNDS; n++) {
    found.running.push(await verdictOfRunning(receiver, `${phase}-${n}`));
    found.fresh.push(await verdictOfNew(receiver, `${phase}-fresh-${n}`));
    found.audit.push(await audit(`${phase}-${n}`));
    found.schedule.push(...(await firings()));
  }
  return found;
}

/** Tickets for two phases. */
const addWaiting = (test: string, { callback }: Receiver) =>
  api.post('/v1/queues/verdicts/tickets/batch', {
    tickets: repeat(2 * ROUNDS, (n) => ({ id: `${test}-v${n}`, body: {}, callback })),
  });

// first: it waits until all is published, which the next one leaves
test(`S0.10 S0.4 while ${ENDED} tickets end at once, verdicts of tickets that have been waiting keep their pace`, async () => {
  const receiver = await startReceiver();
  const verdicts = async (phase: string) =>
    median(await Promise.all(repeat(ROUNDS, (n) => verdictOfRunning(receiver, `${phase}-${n}`))));
  await addWaiting('ends', receiver);
  for (let n = 0; n < ENDED; n += 1_000) {
    const tickets = repeat(1_000, (i) => ({ id: `ended-${n + i}`, body: {} }));
    await api.post('/v1/queues/ended/tickets/batch', { tickets });
  }
  await published(running, 900_000);
  const idle = await verdicts('before');
  await published(running);
  await api.post('/v1/queues/ended/invalidate', { filter: {}, reason: 'a campaign is over' });
  await eventually(async () => (await unpublished(running)) < ENDED / 2, 600_000);
  const beside = await verdicts('beside');
  const left = await unpublished(running);
  expect(beside, `alone: ${idle} ms`).toBeLessThan(2 * idle + 4 * NOISE_MS.running);
  expect(left).toBeGreaterThan(0);
  await published(running, 900_000);
}, 2_400_000);

test('S0.10 S1.8 S3.7 while 20,000 plain tickets have just been added, verdicts, audit callbacks and schedules keep their pace', async () => {
  const receiver = await startReceiver();
  await addWaiting('plain', receiver);
  await api.put('/v1/topics/ticks/schedules/each-second', { everySeconds: 1, body: {}, TTR: 60 });
  await published(running, 60_000);
  await firings();
  const idle = await measure('idle', receiver);

  for (let n = 0; n < PLAIN; n += 1_000) {
    const tickets = repeat(1_000, (i) => ({ id: `plain-${n + i}`, body: {} }));
    expect((await api.post('/v1/queues/plain/tickets/batch', { tickets })).status).toBe(200);
  }
  await firings();
  const loaded = await measure('loaded', receiver);
  expect(await unpublished(running)).toBeGreaterThan(PLAIN / 2);
  const whats = Object.keys(NOISE_MS) as (keyof typeof NOISE_MS)[];
  const figures = whats.map((what) => ({ what, idle: median(idle[what]), loaded: median(loaded[what]) }));
  for (const { what, idle: before, loaded: now } of figures)
    expect(now, `${what}: ${JSON.stringify(figures)}`).toBeLessThan(2 * before + NOISE_MS[what]);
}, 600_000);

/** Milliseconds from hand-out to decision and the next hand-out. */
async function beats(): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < 4 * ROUNDS; n++) {
    const since = performance.now();
    const ticket = await claimOne(api, 'beats', 'anna');
    await api.post(`/v1/tickets/${ticket.id}/decide`, { token: ticket.lease.token, decision: 1 });
    found.push(performance.now() - since);
  }
  return found;
}

// the tickets of the test before are the table
test('S0.10 readers of large pages, tables and the feed leave claims and decisions their pace', async () => {
  const tickets = repeat(8 * ROUNDS, (n) => ({ id: `beat-${n}`, body: {} }));
  await api.post('/v1/queues/beats/tickets/batch', { tickets });
  const alone = median(await beats());
  const stopped = new AbortController();
  const reader = async (path: string) => {
    while (!stopped.signal.aborted) {
      const [answer] = await once(get(`${api.url}${path}`), 'response');
      expect(answer.statusCode).toBe(200);
      for await (const _ of answer.resume()) if (stopped.signal.aborted) break;
    }
  };
  const paths = ['/v1/tickets.csv?queue=plain', '/v1/tickets?queue=plain&limit=500', '/v1/feed?after=0&limit=10000'];
  const readers = paths.flatMap((path) => repeat(4, () => reader(path)));
  const beside = median(await beats());
  stopped.abort();
  await Promise.all(readers);
  expect(beside, `alone: ${alone} ms`).toBeLessThan(4 * alone);
}, 120_000);

test('S0.10 a thousand verdicts of one queue do not stand before the one of another', async () => {
  const [many, one] = [await startReceiver(), await startReceiver()];
  const ids = repeat(1_000, (n) => `many-${n}`);
  const tickets = ids.map((id) => ({ id, body: {}, callback: many.callback }));
  await api.post('/v1/queues/many/tickets/batch', { tickets });
  await api.post('/v1/queues/one/tickets', { id: 'one', body: {}, callback: one.callback });
  await api.post('/v1/tickets/resolve', { items: ids.map((id) => ({ id, decision: 1 })), reason: 'all of them' });
  await api.post('/v1/tickets/one/resolve', { decision: 1, reason: 'this one' });
  await eventually(async () => one.received.length === 1, 60_000);
  expect(many.received.length).toBeLessThan(300);
  await eventually(async () => many.received.length === 1_000, 180_000);
}, 300_000);
