import { expect, test } from 'vitest';
import { type Client, eventTypes, eventually } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import { hasPendingSignal } from '../../support/processes.ts';
import type { TestSystem } from '../../support/system.ts';
import { addMany, claim, configure, ticket } from '../../support/tickets.ts';
import { allEnded, began, connect, ended, endedWith, run, timesOf } from '../driver.ts';
import type { Kit } from '../kits.ts';
import { type Call, failing, forgetful, unavailable, unwilling } from '../stand-ins.ts';

/** What each client's loop does with tickets, whatever its language. */
export function testReviewer(system: TestSystem, kit: Kit): void {
  testReviewing(system, kit);
  testLeases(system, kit);
  testKeeping(system, kit);
  testServerFailures(system, kit);
  testLostTickets(system, kit);
  testTicketFailures(system, kit);
  testLostTicketAnswers(system, kit);
}

const decidedBy = async (api: Client, id: string) => (await ticket(api, id)).decidedBy;
const allDecided = (api: Client, ids: string[], ms?: number) =>
  eventually(
    async () => (await Promise.all(ids.map((id) => ticket(api, id)))).every(({ state }) => state === 'decided'),
    ms,
  );
/** A queue and its tickets, one for each body. */
async function prepare(api: Client, queue: string, settings: object, bodies: object[]): Promise<string[]> {
  await configure(api, queue, settings);
  return addMany(
    api,
    queue,
    bodies.map((body, n) => ({ id: `${queue}-${n}`, body })),
  );
}
const callsOf = (calls: Call[], end: string) => calls.filter(({ path }) => path.endsWith(end)).length;

function testReviewing({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S0.6 S0.8 two reviewers decide 60 tickets, each once, the next one coming with the decision', async () => {
    const ids = await prepare(api, 'many-tickets', {}, Array(60).fill({}));
    const server = await forgetful(api.url, () => false);
    const loops = ['ada', 'bob'].map((reviewer) =>
      run(kit, 'ReviewerLoop', { servers: [server.url], queue: 'many-tickets', reviewer }),
    );
    await allDecided(api, ids, 40_000);
    const claims = callsOf(server.calls, '/claim');
    await allEnded(loops);
    expect(began(...loops).sort()).toEqual(ids.toSorted());
    expect(callsOf(server.calls, '/decide')).toBe(60);
    // otherwise each ticket would need a claim
    expect(claims).toBeLessThan(30);
    for (const loop of loops) expect(loop.lines('error')).toEqual([]);
    expect((await ticket(api, ids[0] ?? '')).decision).toEqual({ of: ids[0], empty: {} });
  });

  test('S0.6 one reviewer works on as many at once as the queue lets them hold, each once', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) => ({ seconds: n % 2 === 0 ? 0.1 : 1.2 }));
    const ids = await prepare(api, 'at-once', { maxHeld: 3 }, bodies);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'at-once', reviewer: 'ada', concurrency: 3 });
    await eventually(async () => began(loop).length >= 3);
    expect(loop.lines('ended').length).toBeLessThan(3);
    await allDecided(api, ids);
    const later = await addMany(api, 'at-once', [{ id: 'at-once-later', body: {} }]);
    await allDecided(api, later);
    await ended(loop);
    expect(began(loop).sort()).toEqual([...ids, ...later].sort());
    expect(loop.lines('error')).toEqual([]);
  });

  test('S0.5 a reviewer gets what they have the skills for, with a key that is theirs', async () => {
    await addMany(api, 'skilled', [
      { id: 'skilled-1', body: {}, requires: ['math'] },
      { id: 'skilled-2', body: {}, requires: ['law'] },
      { id: 'skilled-3', body: {}, requires: ['math'] },
    ]);
    const { key } = await createKey(running.runtime.db, { name: 'ada', role: 'reviewer', subject: 'ada' });
    const skilled = { servers, apiKey: key, queue: 'skilled', skills: ['math'] };
    const loop = run(kit, 'ReviewerLoop', { ...skilled, reviewer: 'ada' });
    await allDecided(api, ['skilled-1', 'skilled-3']);
    await ended(loop);
    expect(began(loop)).toEqual(['skilled-1', 'skilled-3']);
    await endedWith(run(kit, 'ReviewerLoop', { ...skilled, reviewer: 'bob' }), 'Auth');
  });

  test('S0.3 it goes on with the next server when one answers 503 or none', async () => {
    const ids = await prepare(api, 'away-tickets', {}, [{}, {}]);
    const all = ['http://127.0.0.1:1', await unavailable(), api.url];
    const loop = run(kit, 'ReviewerLoop', { servers: all, queue: 'away-tickets', reviewer: 'ada' });
    await allDecided(api, ids);
    await ended(loop);
    expect(loop.lines('error')).toEqual([]);
  });
}

function testLeases({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S0.7 a handler that takes longer than the lease keeps its ticket', async () => {
    const [id = ''] = await prepare(api, 'long-ticket', { leaseSeconds: 2 }, [{ seconds: 5 }]);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'long-ticket', reviewer: 'ada' });
    await allDecided(api, [id]);
    await ended(loop);
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'decided']);
  });

  test('S0.7 a reviewer is killed: their ticket goes to another one', async () => {
    const [id = ''] = await prepare(api, 'killed-ticket', { leaseSeconds: 2 }, [{ seconds: 3 }]);
    const dying = run(kit, 'ReviewerLoop', { servers, queue: 'killed-ticket', reviewer: 'ada' });
    await eventually(async () => began(dying).length === 1);
    dying.process.kill('SIGKILL');
    const other = run(kit, 'ReviewerLoop', { servers, queue: 'killed-ticket', reviewer: 'bob' });
    await allDecided(api, [id]);
    await ended(other);
    expect(await decidedBy(api, id)).toBe('bob');
    expect(other.lines('began')).toMatchObject([{ began: id, attempt: 2 }]);
  });

  test('S0.7 told to stop, it lets the running handler end, decides its ticket and leaves the rest to others', async () => {
    const ids = await prepare(api, 'stop-ticket', {}, [{ seconds: 1.5 }, {}, {}]);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'stop-ticket', reviewer: 'ada' });
    await eventually(async () => began(loop).length === 1);
    await ended(loop);
    expect(loop.lines('ended')).toEqual([{ ended: ids[0] }]);
    expect(await decidedBy(api, ids[0] ?? '')).toBe('ada');
    for (const id of ids.slice(1)) expect(await ticket(api, id)).toMatchObject({ state: 'waiting', attempts: 0 });
  });

  test('S0.7 a ticket that comes after it was told to stop is given back at once', async () => {
    await configure(api, 'stopped', { leaseSeconds: 600 });
    const server = await forgetful(api.url, () => false);
    const loop = run(kit, 'ReviewerLoop', {
      servers: [server.url],
      queue: 'stopped',
      reviewer: 'ada',
      waitSeconds: 8,
    });
    await eventually(async () => callsOf(server.calls, '/claim') === 1);
    loop.process.kill('SIGTERM');
    await eventually(async () => !hasPendingSignal(loop.process.pid ?? 0));
    const [id = ''] = await addMany(api, 'stopped', [{ id: 'stopped-late', body: {} }]);
    expect(await loop.exited, loop.output()).toBe(0);
    expect(began(loop)).toEqual([]);
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'released']);
  });
}

function testKeeping({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S0.7 a ticket that was held before is kept, however near its end it is', async () => {
    const [id = ''] = await prepare(api, 'old-ticket', { leaseSeconds: 18 }, [{ seconds: 8 }]);
    const [held] = (await claim(api, 'old-ticket', 'ada')).tickets;
    expect(held.id).toBe(id);
    // less than until its first renewal, and long enough for a program to start on a busy machine
    await eventually(async () => Date.parse(held.lease.expiresAt) - Date.now() < 5_500, 30_000);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'old-ticket', reviewer: 'ada' });
    await allDecided(api, [id]);
    await ended(loop);
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'decided']);
  });

  test('S0.7 S0.9 a decision that no server takes for longer than a call is repeated is sent until one does', async () => {
    const [id = ''] = await prepare(api, 'late-decision', { leaseSeconds: 3 }, [{}]);
    const server = await unwilling(api.url, 12, '/decide');
    const given = { servers: [server.url], queue: 'late-decision', reviewer: 'ada', retrySeconds: 0.5 };
    const loop = run(kit, 'ReviewerLoop', given);
    await allDecided(api, [id], 40_000);
    await ended(loop);
    expect(began(loop)).toEqual([id]);
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'decided']);
  });
}

function testServerFailures({ api }: TestSystem, kit: Kit): void {
  test('S0.7 a decision at which the server fails each time is given up, and its ticket is given back', async () => {
    const [id = ''] = await prepare(api, 'failed-decision', { leaseSeconds: 3 }, [{}]);
    const server = await failing(api.url, ({ path }) => path.endsWith('/decide'), 500);
    const given = { servers: [server.url], queue: 'failed-decision', reviewer: 'ada', retrySeconds: 0.5 };
    const loop = run(kit, 'ReviewerLoop', { ...given, backoffSeconds: 60 });
    await eventually(async () => (await ticket(api, id)).state === 'delayed', 15_000);
    await ended(loop);
    expect(began(loop)).toEqual([id]);
    expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining('Unavailable'), item: id }]);
    expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'released']);
  });
}

function testLostTickets({ api }: TestSystem, kit: Kit): void {
  test.each([
    ['is invalidated', 'invalidate', { reason: 'gone' }, 'NotOpen'],
    ['is moved by an operator', 'transfer', { queue: 'elsewhere' }, 'LeaseLost'],
  ])(
    'S0.4 S0.7 a held ticket that %s: the handler hears of it, and nothing is sent for it',
    async (_, call, how, error) => {
      const queue = `lost-${call}`;
      const [id = '', next = ''] = await prepare(api, queue, { leaseSeconds: 3 }, [{ untilLost: true }, {}]);
      const server = await forgetful(api.url, () => false);
      const loop = run(kit, 'ReviewerLoop', { servers: [server.url], queue, reviewer: 'ada' });
      await eventually(async () => began(loop).length === 1);
      expect((await api.post(`/v1/tickets/${id}/${call}`, how)).status).toBe(200);
      await allDecided(api, [next]);
      await ended(loop);
      expect(loop.lines('lost')).toEqual([{ lost: id }]);
      expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining(error), item: id }]);
      const sent = server.calls.filter(({ path }) => path.startsWith(`/v1/tickets/${id}/`));
      expect(new Set(sent.map(({ path }) => path))).toEqual(new Set([`/v1/tickets/${id}/renew`]));
    },
  );
}

function testTicketFailures({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S0.7 a handler that fails gives its ticket back, later each time, or when and how it says', async () => {
    const bodies = [
      { fail: 'error', failures: 2 },
      { fail: 'release', failures: 1, delay: 1.5 },
      { fail: 'skip', failures: 9 },
    ];
    const [twice = '', said = '', skipped = ''] = await prepare(api, 'fail-ticket', {}, bodies);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'fail-ticket', reviewer: 'ada' });
    await allDecided(api, [twice, said]);
    await ended(loop);
    const [first = 0, second = 0, third = 0, fourth] = timesOf(loop, twice);
    expect(second - first).toBeGreaterThanOrEqual(1);
    expect(third - second).toBeGreaterThanOrEqual(2);
    expect(fourth).toBeUndefined();
    const [one = 0, two = 0] = timesOf(loop, said);
    expect(two - one).toBeGreaterThanOrEqual(1.5);
    expect(timesOf(loop, skipped)).toHaveLength(1);
    expect(await eventTypes(api, skipped)).toEqual(['created', 'claimed', 'skipped']);
    expect(loop.lines('error').map((line) => line.item)).toEqual([twice, twice]);
  });

  test('S0.8 a decision that the form of the queue refuses counts as a failure', async () => {
    const form = { type: 'object', required: ['verdict'] };
    const [id = ''] = await prepare(api, 'form-ticket', { form }, [{}]);
    const loop = run(kit, 'ReviewerLoop', { servers, queue: 'form-ticket', reviewer: 'ada', backoffSeconds: 60 });
    await eventually(async () => (await ticket(api, id)).state === 'delayed');
    await ended(loop);
    expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining('Http'), item: id }]);
    expect(began(loop)).toEqual([id]);
  });
}

function testLostTicketAnswers({ api }: TestSystem, kit: Kit): void {
  test('S0.8 S0.9 what was done but not answered is sent again, and done once', async () => {
    const bodies = [...Array(5).fill({}), { fail: 'release', failures: 1, delay: 0 }];
    const ids = await prepare(api, 'again-ticket', {}, bodies);
    const server = await forgetful(api.url, () => true);
    const loop = run(kit, 'ReviewerLoop', { servers: [server.url], queue: 'again-ticket', reviewer: 'ada' });
    await allDecided(api, ids, 40_000);
    await ended(loop);
    expect(began(loop).sort()).toEqual([...ids, ids.at(-1)].sort());
    // a claim is sent again by the loop, and that no server answered is an error of no ticket
    expect(loop.lines('error').filter((line) => line.item)).toEqual([]);
    for (const id of ids.slice(0, 5)) expect(await eventTypes(api, id)).toEqual(['created', 'claimed', 'decided']);
    expect(await eventTypes(api, ids[5] ?? '')).toEqual(['created', 'claimed', 'released', 'claimed', 'decided']);
  });

  test('S0.9 a ticket without an id whose answer was lost is added once', async () => {
    const server = await forgetful(api.url, (call) => call.path.endsWith('/tickets'));
    const queue = 'keyed-calls';
    await connect(kit, { servers: [server.url] })('tickets.add', queue, { body: 'no id' });
    expect(server.calls).toHaveLength(2);
    const { body } = await api.get(`/v1/tickets?queue=${queue}&limit=500`);
    expect(body.items).toMatchObject([{ body: 'no id' }]);
  });
}
