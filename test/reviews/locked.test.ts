import pg from 'pg';
import { expect, test } from 'vitest';
import { numbered } from '../support/cases.ts';
import type { Reply } from '../support/client.ts';
import { logOf, put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api, databaseUrl } = await startTestSystem();
const plain = (id: string) => ({ text: { status: 1 }, pictures: [{ id: `${id}-p`, status: 1 }] });
const CALLERS = 64;

const p99 = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

test('S1.8 while one review is locked by a long edit, others’ callbacks and edits are as fast as ever; its own wait, and none is lost', async () => {
  const others = numbered(CALLERS, 'free-');
  for (const id of ['locked', ...others]) await put(api, id, plain(id));
  const round = async (): Promise<number> => {
    const times: number[] = [];
    const caller = async (id: string, n: number) => {
      for (let k = 0; k < 3; k++) {
        const began = performance.now();
        const reply =
          n % 2
            ? await api.post(`/v1/reviews/${id}/callbacks`, { kind: 'text', status: k })
            : await api.post(`/v1/pictures/${id}-p/callbacks`, { status: k });
        times.push(performance.now() - began);
        expect(reply.status).toBe(202);
      }
    };
    await Promise.all(others.map(caller));
    return p99(times);
  };
  const idle = await round();

  const editor = new pg.Client({ connectionString: databaseUrl });
  await editor.connect();
  await editor.query('begin');
  await editor.query("select 1 from review where id = 'locked' for update");
  const waiting: Promise<Reply>[] = numbered(CALLERS).map((_, n) =>
    api.post('/v1/reviews/locked/callbacks', { kind: 'text', status: n, callbackId: `w-${n}`, waitSeconds: 60 }),
  );
  let answered = 0;
  for (const one of waiting) void one.then(() => answered++);
  const beside = await round();
  for (const id of others.slice(0, 5)) await put(api, id, { ...plain(id), body: 'edited' }, 200);
  expect((await tell(api, 'free-0', { kind: 'text', status: 99 })).outcome).toBe('applied');
  expect(answered).toBe(0);
  // a busy machine makes both slow
  expect(beside).toBeLessThan(Math.max(50, idle * 3));
  await editor.query('commit');
  await editor.end();
  const replies = await Promise.all(waiting);
  for (const { status, body } of replies) expect([status, body.outcome]).toEqual([200, 'applied']);
  expect(await logOf(api, 'locked')).toHaveLength(CALLERS);
}, 240_000);
