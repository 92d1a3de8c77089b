import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Transfers } from '../../api/transfers.ts';
import { type Client, eventually, repeat } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const MAX_CALLS = 20;
/** More strangers than a process reads bodies of at once. */
const STRANGERS = 510;
const PAGE = 500;

const stores = await testStores();
// made while no key is asked for
const open = await startTestSystem({}, { stores });
const { key } = await createKey(open.running.ctx.db, { name: 'admin', role: 'admin', subject: null });
const { key: busyKey } = await createKey(open.running.ctx.db, { name: 'busy', role: 'admin', subject: null });
const guarded = await startTestSystem(
  { DOCKET_AUTH: 'keys' },
  { stores, role: 'api', limits: { maxCalls: MAX_CALLS, maxHeldBytes: 5_000_000 } },
);
const api = guarded.api.as(key);

/** Sends `text` on a connection of its own, which reads nothing until `read` is called. */
function begin(text: string) {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1'))).on('error', () => {});
  socket.pause();
  socket.write(text);
  return {
    /** All that comes until the other end closes, or has sent so many answers. */
    async read(answers = 1): Promise<string> {
      socket.resume();
      const whole = eventually(
        async () => lengthOf(answer) !== undefined && answer.length >= answers * Number(lengthOf(answer)),
      );
      await Promise.race([whole, finished(socket).catch(() => {})]);
      return answer;
    },
    socket,
  };
}

function lengthOf(answer: string): number | undefined {
  const head = answer.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(answer.slice(0, head))?.[1];
  return head < 0 || length === undefined ? undefined : head + 4 + Number(length);
}

const statusOf = (answer: string) => Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
const slow = (path: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${more}content-type: application/json\r\ncontent-length: 200\r\n\r\n{`;
const bearer = (of: string) => `authorization: Bearer ${of}\r\n`;

const begun: ReturnType<typeof begin>[] = [];
afterEach(() => {
  for (const { socket } of begun.splice(0)) socket.destroy();
});

function beginAll(n: number, text: string): ReturnType<typeof begin>[] {
  const some = repeat(n, () => begin(text));
  begun.push(...some);
  return some;
}

async function expectOthersGoOn(others: Client): Promise<void> {
  for (const path of ['/livez', '/readyz', '/metrics', '/v1/queues']) expect((await others.get(path)).status).toBe(200);
  expect((await others.post('/v1/session', { key })).status).toBe(201);
}

describe('bodies that never arrive', () => {
  test('take no call from others, and a stranger who came later can sign in', async () => {
    const attackers = beginAll(STRANGERS, slow('/v1/session'));
    // those that began first make room
    const first = await Promise.all(attackers.slice(0, 5).map((attacker) => attacker.read()));
    expect(first.map(statusOf)).toEqual([429, 429, 429, 429, 429]);
    await expectOthersGoOn(api);
  });

  test('are given up after seconds, and are no calls of their key either', async () => {
    const attackers = beginAll(MAX_CALLS, slow('/v1/queues/q/tickets', bearer(busyKey)));
    await expectOthersGoOn(api.as(busyKey));
    const answers = await Promise.all(attackers.map((attacker) => attacker.read()));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([400]));
    expect(answers[0]).toContain('did not arrive within 10 seconds');
  }, 60_000);
});

test('probes and metrics are answered while a process has more calls than it takes', async () => {
  const blocker = new pg.Client({ connectionString: guarded.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('lock table queue in access exclusive mode');
  const calls = repeat(3 * MAX_CALLS, () => api.get('/v1/queues'));
  expectProblem(await Promise.race(calls), 'busy', 'rate_limited');
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await api.get(path)).status, path).toBe(200);
  await blocker.query('rollback');
  await blocker.end();
  await Promise.all(calls);
});

test('made-up keys that wait for the database have a bound of their own', async () => {
  const free = await startTestSystem({ DOCKET_AUTH: 'keys' }, { stores, role: 'api', limits: { maxCalls: 200 } });
  const known = free.api.as(key);
  expect((await known.get('/v1/queues')).status).toBe(200);
  const blocker = new pg.Client({ connectionString: guarded.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('lock table api_key in access exclusive mode');
  const madeUp = (n: number) => `docket_${String(n).padStart(12, '0')}_${'a'.repeat(43)}`;
  const strangers = repeat(300, (n) => free.api.as(madeUp(n)).get('/v1/queues'));
  expectProblem(await Promise.race(strangers), 'stranger', 'rate_limited');
  // long enough that the key has to be looked up again
  await sleep(1_100);
  const mine = repeat(60, () => known.get('/v1/queues'));
  await blocker.query('rollback');
  await blocker.end();
  expect(new Set((await Promise.all(mine)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set((await Promise.all(strangers)).map(({ status }) => status))).toEqual(new Set([401, 429]));
});

describe('answers that nobody reads', () => {
  test('hold no more than a bound of one key, and its callers who read go on', async () => {
    const tickets = repeat(PAGE, (n) => ({ id: `unread-${n}`, body: 'x'.repeat(7_600) }));
    for (let n = 0; n < PAGE; n += 100)
      await open.api.post('/v1/queues/unread/tickets/batch', { tickets: tickets.slice(n, n + 100) });
    const path = `/v1/tickets?queue=unread&limit=${PAGE}`;
    const cut = /docket_transfers_cut_total\{why="crowded"\} (\d+)/;
    const before = Number(cut.exec((await api.get('/metrics')).body)?.[1] ?? 0);
    // of two answers the kernel's buffers take the first
    const attackers = beginAll(4, `GET ${path} HTTP/1.1\r\nhost: x\r\n${bearer(busyKey)}\r\n`.repeat(2));
    const cuts = async () => Number(cut.exec((await api.get('/metrics')).body)?.[1] ?? 0);
    await eventually(async () => (await cuts()) >= before + 2, 60_000);
    const page = await api.as(busyKey).get(path);
    expect(page.body.items.length).toBeGreaterThan(400);
    const answers = await Promise.all(attackers.map((attacker) => attacker.read(2)));
    const whole = answers.filter((answer) => answer.length === 2 * Number(lengthOf(answer)));
    expect(whole.length).toBeLessThan(3);
  }, 120_000);

  test('are cut when their time is over', () => {
    vi.useFakeTimers();
    const transfers = new Transfers({ maxCalls: 10, maxHeldBytes: 100 }, () => {});
    const cuts: string[] = [];
    const alone = transfers.begin('key', 60, (why) => cuts.push(`alone ${why}`));
    alone.add(1_000);
    const read = transfers.begin('other', 60, () => cuts.push('read'));
    read.end();
    vi.advanceTimersByTime(59_000);
    // one that is alone is not cut however large it is: it would be again
    expect(cuts).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect(cuts).toEqual(['alone late']);
    vi.useRealTimers();
  });
});
