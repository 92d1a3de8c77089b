import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { share, sharePerGroup } from '../../services/shared/batching.ts';
import { claimOne, eventTypes, type Json, numbered, type Reply, repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { addMany } from '../support/tickets.ts';

const databaseError = (code: string) => Object.assign(new DatabaseError('made for the test', 1, 'error'), { code });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A statement that takes a turn of the loop, doubles its inputs and remembers what it was given. */
function statement(fault: (inputs: number[], nth: number) => Error | undefined = () => undefined) {
  const ran: number[][] = [];
  const run = async (inputs: number[]) => {
    ran.push(inputs);
    await turn();
    const error = fault(inputs, ran.length);
    if (error) throw error;
    return inputs.map((n) => n * 2);
  };
  return { ran, run };
}

const keys = (n: number) => [String(n % 1000)];
const numbers = (count: number) => repeat(count, (n) => n);

describe('sharing a statement', () => {
  test('who comes at once, or while one is under way, goes together, 128 at most', async () => {
    const { ran, run } = statement();
    const shared = share(run, { keys });
    const first = [shared(500), shared(501)];
    await turn();
    expect(await Promise.all(numbers(130).map(shared))).toEqual(numbers(130).map((n) => n * 2));
    expect(await Promise.all(first)).toEqual([1000, 1002]);
    expect(ran.map((inputs) => inputs.length)).toEqual([2, 128, 2]);
    expect(ran.flat()).toEqual([500, 501, ...numbers(130)]);
    expect(await shared(7)).toBe(14);
  });

  test('one that is poisoned fails alone, and nobody is answered twice', async () => {
    const { ran, run } = statement((inputs) => (inputs.includes(41) ? new Error('poison') : undefined));
    const shared = share(run, { keys });
    const ends = await Promise.allSettled(numbers(64).map(shared));
    const failed = { status: 'rejected', reason: new Error('poison') };
    expect(ends).toEqual(numbers(64).map((n) => (n === 41 ? failed : { status: 'fulfilled', value: n * 2 })));
    // down to the culprit in halves: 64, 32, 16, 8, 4, 2, 1 and the other half of each
    expect(ran.length).toBe(1 + 6 * 2);
  });

  test('two that are poisoned, and all of them', async () => {
    const isPoisoned = (n: number) => n === 3 || n === 60;
    const { run } = statement((inputs) => (inputs.some(isPoisoned) ? new Error('poison') : undefined));
    const some = share(run, { keys });
    const ends = await Promise.allSettled(numbers(64).map(some));
    expect(ends.flatMap((end, n) => (end.status === 'rejected' ? [n] : []))).toEqual([3, 60]);
    const all = share(statement(() => new Error('poison')).run, { keys });
    expect((await Promise.allSettled(numbers(20).map(all))).every((end) => end.status === 'rejected')).toBe(true);
  });

  test('the same key waits for the next statement, in the order of its callers', async () => {
    const { ran, run } = statement();
    const shared = share(run, { keys });
    // 1, 1001 and 2001 have one key
    const answers = await Promise.all([0, 1, 1001, 2, 2001, 3].map(shared));
    expect(answers).toEqual([0, 2, 2002, 4, 4002, 6]);
    expect(ran).toEqual([[0, 1, 2, 3], [1001], [2001]]);
  });

  test('one with several keys waits for each of them', async () => {
    const ran: string[][] = [];
    const shared = share(
      async (inputs: string[]) => {
        ran.push(inputs);
        await turn();
        return inputs;
      },
      { keys: (input) => input.split('') },
    );
    await Promise.all(['x', 'ab', 'bc', 'c', 'd'].map(shared));
    expect(ran).toEqual([['x', 'ab', 'd'], ['bc'], ['c']]);
  });

  test('a server that is lost fails all at once, and the next one is tried again', async () => {
    const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    const ended = new Error('Connection terminated unexpectedly');
    for (const lost of [databaseError('57P01'), databaseError('08006'), refused, ended]) {
      const { ran, run } = statement((_inputs, nth) => (nth === 2 ? lost : undefined));
      const shared = share(run, { keys });
      const first = shared(500);
      await turn();
      const ends = await Promise.allSettled([first, ...numbers(64).map(shared)]);
      expect(ends.map((end) => end.status)).toEqual(['fulfilled', ...numbers(64).map(() => 'rejected')]);
      expect(ran.length).toBe(2);
      expect(await shared(5)).toBe(10);
    }
  });

  test('a conflict is tried once more, not for ever', async () => {
    for (const code of ['40P01', '40001']) {
      const once = statement((_inputs, nth) => (nth === 1 ? databaseError(code) : undefined));
      expect(await share(once.run, { keys })(5)).toBe(10);
      expect(once.ran).toEqual([[5], [5]]);
      const always = statement(() => databaseError(code));
      await expect(share(always.run, { keys })(5)).rejects.toMatchObject({ code });
      expect(always.ran).toEqual([[5], [5]]);
    }
    const { ran, run } = statement((_inputs, nth) => (nth === 1 ? databaseError('40P01') : undefined));
    expect(await Promise.all(numbers(8).map(share(run, { keys })))).toEqual(numbers(8).map((n) => n * 2));
    expect(ran.map((inputs) => inputs.length)).toEqual([8, 4, 4]);
  });
});

describe('through the API', async () => {
  const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api' });
  /** New tickets, each of which somebody else holds. */
  const claimed = async (queue: string, prefix: string, count: number): Promise<Json[]> => {
    await addMany(api, queue, numbered(count, prefix));
    const held: Json[] = [];
    for (const n of numbers(count)) held.push(await claimOne(api, queue, `r-${n}`));
    return held;
  };
  const statuses = (replies: Reply[]) => replies.map((r) => r.status);
  const poison = (event: string, id: string) =>
    sql(`create or replace function poison() returns trigger language plpgsql as $$ begin
           if new.id = '${id}' then raise 'poisoned'; end if; return new; end $$;
         create trigger poison before ${event} on item for each row execute function poison()`);

  test('S0.9 one poisoned add among 64 at once fails alone', async () => {
    await poison('insert', 'add-17');
    const ids = numbers(64).map((n) => `add-${n}`);
    const add = (id: string) => api.unchecked().post('/v1/queues/add/tickets', { id, body: id });
    const replies = await Promise.all(ids.map(add));
    expect(statuses(replies)).toEqual(ids.map((id) => (id === 'add-17' ? 500 : 201)));
    expect(replies[17]?.body).toMatchObject({ code: 'internal', requestId: expect.any(String) });
    expect(JSON.stringify(replies[17]?.body)).not.toContain('poisoned');
    await sql('drop trigger poison on item');
    expect((await api.post('/v1/queues/add/tickets', { id: 'add-17', body: 'add-17' })).status).toBe(201);
    expect((await api.get('/v1/queues/add/stats')).body.waiting).toBe(64);
    for (const id of ids) expect(await eventTypes(api, id)).toEqual(['created']);
  });

  test('S0.6 one poisoned decision among 64 at once fails alone', async () => {
    const held = await claimed('settle', 's-', 64);
    await poison('update', 's-9');
    const decide = (t: Json) =>
      api.unchecked().post(`/v1/tickets/${t.id}/decide`, { token: t.lease.token, decision: 'ok' });
    const replies = await Promise.all(held.map(decide));
    expect(statuses(replies)).toEqual(held.map((t) => (t.id === 's-9' ? 500 : 200)));
    await sql('drop trigger poison on item');
    expect(statuses(await Promise.all(held.map(decide)))).toEqual(held.map(() => 200));
    for (const t of held) expect(await eventTypes(api, t.id)).toEqual(['created', 'claimed', 'decided']);
  });

  test('S0.6 the same token many times at once: one decision, one answer for all who say the same', async () => {
    const held = await claimed('twice', 't-', 20);
    const send = (t: Json, decision: string) =>
      api.post(`/v1/tickets/${t.id}/decide`, { token: t.lease.token, decision });
    const replies = await Promise.all(held.flatMap((t) => [send(t, 'same'), send(t, 'same'), send(t, 'other')]));
    held.forEach((_t, n) => {
      const [first, second, other] = replies.slice(n * 3, n * 3 + 3) as [Reply, Reply, Reply];
      const said = JSON.stringify([first, second, other].map((r) => [r.status, r.body.code]));
      expect([first.status, second.status, other.status].filter((s) => s === 200).length, said).toBeGreaterThan(0);
      expect(second.status, said).toBe(first.status);
      expect(other.status === 200, said).toBe(first.status !== 200);
      const refused = first.status === 200 ? other : first;
      expect(refused.body, said).toMatchObject({ code: 'not_open', state: 'decided', reason: 'settled' });
      if (first.status === 200) expect(second.body.ticket).toEqual(first.body.ticket);
    });
    for (const t of held) expect(await eventTypes(api, t.id)).toEqual(['created', 'claimed', 'decided']);
  });

  test('S0.6 the same id many times at once: one ticket, and who sent other content is told', async () => {
    const send = (id: number, body: number) => api.post('/v1/queues/same/tickets', { id: `same-${id}`, body });
    const replies = await Promise.all(numbers(20).flatMap((id) => [send(id, 1), send(id, 1), send(id, 2)]));
    for (const id of numbers(20)) {
      const answers = replies.slice(id * 3, id * 3 + 3);
      const { body } = (await api.get(`/v1/tickets/same-${id}`)).body;
      expect(statuses(answers).sort()).toEqual(body === 1 ? [200, 201, 409] : [201, 409, 409]);
      for (const answer of answers) if (answer.status < 300) expect(answer.body.body).toBe(body);
    }
    expect((await api.get('/v1/queues/same/stats')).body.waiting).toBe(20);
  });
});

test('groups share by themselves, and one that nobody waits in any more is forgotten', async () => {
  const made: string[] = [];
  const ran: string[] = [];
  const shared = sharePerGroup<number, number>((group) => {
    made.push(group);
    const { run } = statement();
    return share(
      (inputs) => {
        ran.push(`${group}${inputs.join()}`);
        return run(inputs);
      },
      { keys },
    );
  });
  expect(await Promise.all([shared('a', 1), shared('b', 2), shared('a', 3)])).toEqual([2, 4, 6]);
  expect(made).toEqual(['a', 'b']);
  expect(ran).toEqual(['a1,3', 'b2']);
  expect(await shared('a', 4)).toBe(8);
  expect(made).toEqual(['a', 'b', 'a']);
});
