import { describe, expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { drop, logOf, put, stores, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const review = async (id: string): Promise<Json> => (await api.get(`/v1/reviews/${id}`)).body;
const plain = (id: string) => ({
  text: { status: 1 },
  pictures: ['a', 'b', 'c'].map((p) => ({ id: `${id}-${p}`, status: 1 })),
  replies: [{ id: 'r', status: 1 }],
});
const at = (seconds: number) => new Date(Date.parse('2026-11-01T12:00:00.000Z') + seconds * 1_000).toISOString();

test('S1.1 three kinds of audit: none touches the status of another', async () => {
  const created = await put(api, 'kinds', plain('kinds'));
  expect(created).toMatchObject({ id: 'kinds', status: 1, text: { status: 1, auditTime: null }, body: null });
  expect(created.pictures.map((p: Json) => [p.id, p.position])).toEqual([
    ['kinds-a', 0],
    ['kinds-b', 1],
    ['kinds-c', 2],
  ]);
  const statuses = async () => {
    const { status, text, pictures, replies } = await review('kinds');
    return [status, text.status, ...pictures.map((p: Json) => p.status), ...replies.map((r: Json) => r.status)];
  };
  await tell(api, 'kinds', { kind: 'picture', targetId: 'kinds-b', status: 2 });
  expect(await statuses()).toEqual([1, 1, 1, 2, 1, 1]);
  await tell(api, 'kinds', { kind: 'reply', targetId: 'r', status: 3 });
  expect(await statuses()).toEqual([1, 1, 1, 2, 1, 3]);
  await tell(api, 'kinds', { kind: 'text', status: 4 });
  expect(await statuses()).toEqual([4, 4, 1, 2, 1, 3]);
  const { version, text } = await review('kinds');
  expect(version).toBeGreaterThan(created.version);
  expect(text.auditTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('S1.3 the newest audit time wins; of equal ones the later arrival', async () => {
  await put(api, 'newest', plain('newest'));
  const picture = (status: number, seconds: number) =>
    tell(api, 'newest', { kind: 'picture', targetId: 'newest-a', status, auditTime: at(seconds) });
  expect((await picture(2, 10)).outcome).toBe('applied');
  expect((await picture(3, 9.999)).outcome).toBe('expired');
  expect((await picture(4, 10)).outcome).toBe('applied');
  expect((await review('newest')).pictures[0]).toEqual({ id: 'newest-a', position: 0, status: 4, auditTime: at(10) });
  const lines = await logOf(api, 'newest');
  expect(
    lines.map((l) => [l.outcome, l.reason, l.status, l.before.pictures[0].status, l.after.pictures[0].status]),
  ).toEqual([
    ['applied', null, 2, 1, 2],
    ['expired', 'older', 3, 2, 2],
    ['applied', null, 4, 2, 4],
  ]);
});

test('S1.4 without an audit time it is the database’s clock at arrival, whatever the host’s says', async () => {
  await put(api, 'clock', plain('clock'));
  await tell(api, 'clock', { kind: 'text', status: 2 });
  const [line] = await logOf(api, 'clock');
  expect(line.auditTime).toBe(line.receivedAt);
  const [row] = await sql<{ near: boolean }>(
    'select abs(extract(epoch from clock_timestamp() - $1::timestamptz)) < 20 as near',
    [line.receivedAt],
  );
  expect(row?.near).toBe(true);
  expect(Date.parse(line.appliedAt)).toBeGreaterThanOrEqual(Date.parse(line.receivedAt));
});

test('S1.6 the same callback twice: a duplicate that names the first one’s outcome, with a line of its own', async () => {
  await put(api, 'twice', plain('twice'));
  const sent = { kind: 'picture', targetId: 'twice-a', status: 5, auditTime: at(5), callbackId: 'cb-1' };
  expect(await tell(api, 'twice', sent)).toEqual({ callbackId: 'cb-1', outcome: 'applied' });
  expect(await tell(api, 'twice', { ...sent, status: 9, auditTime: at(9) })).toEqual({
    callbackId: 'cb-1',
    outcome: 'duplicate',
    first: { outcome: 'applied' },
  });
  expect(await tell(api, 'twice', { ...sent, callbackId: 'cb-2', auditTime: at(1) })).toMatchObject({
    outcome: 'expired',
  });
  expect(await tell(api, 'twice', { ...sent, callbackId: 'cb-2' })).toMatchObject({ first: { outcome: 'expired' } });
  expect((await review('twice')).pictures[0].status).toBe(5);
  expect((await logOf(api, 'twice')).map((l) => l.outcome)).toEqual(['applied', 'duplicate', 'expired', 'duplicate']);
  await put(api, 'other', plain('other'));
  expect(await tell(api, 'other', { kind: 'text', status: 2, callbackId: 'cb-1' })).toMatchObject({
    outcome: 'applied',
  });
});

test('S1.6 fifty callers with one callback: applied once, and each is told so', async () => {
  await put(api, 'fifty', plain('fifty'));
  const sent = { kind: 'text', status: 7, callbackId: 'once' };
  const answers = await Promise.all(repeat(50, () => tell(api, 'fifty', sent)));
  expect(answers.filter((a) => a.outcome === 'applied')).toHaveLength(1);
  expect(answers.filter((a) => a.outcome === 'duplicate' && a.first.outcome === 'applied')).toHaveLength(49);
});

describe('S1.9 the author’s edit', () => {
  test('keeps status and audit time of what stays, takes the status of what is new, in the new order', async () => {
    await put(api, 'edit', plain('edit'));
    await tell(api, 'edit', { kind: 'picture', targetId: 'edit-b', status: 5, auditTime: at(1) });
    await tell(api, 'edit', { kind: 'text', status: 3, auditTime: at(2) });
    const edited = await put(
      api,
      'edit',
      {
        text: { status: 8 },
        pictures: [
          { id: 'edit-d', status: 6 },
          { id: 'edit-b', status: 8 },
        ],
        replies: [
          { id: 'r', status: 8 },
          { id: 's', status: 2 },
        ],
        body: { words: 'new' },
      },
      200,
    );
    expect(edited).toMatchObject({ status: 3, text: { status: 3, auditTime: at(2) }, body: { words: 'new' } });
    expect(edited.pictures).toEqual([
      { id: 'edit-d', position: 0, status: 6, auditTime: null },
      { id: 'edit-b', position: 1, status: 5, auditTime: at(1) },
    ]);
    expect(edited.replies.map((r: Json) => r.status)).toEqual([1, 2]);
    expect((await stores(api, 'edit')).inStep).toBe(true);
    const line = (await logOf(api, 'edit')).at(-1);
    expect(line).toMatchObject({ seq: 3, kind: 'edit', outcome: 'edited', callbackId: null, version: edited.version });
    expect(line.before.pictures.map((p: Json) => p.id)).toEqual(['edit-a', 'edit-b', 'edit-c']);
    expect(line.after.pictures.map((p: Json) => p.id)).toEqual(['edit-d', 'edit-b']);
  });

  test('a callback for what was removed is expired, and says why; put back, it is new', async () => {
    await put(api, 'gone', plain('gone'));
    await tell(api, 'gone', { kind: 'picture', targetId: 'gone-a', status: 5, auditTime: at(1) });
    await put(api, 'gone', { ...plain('gone'), pictures: [] }, 200);
    const late = { kind: 'picture', targetId: 'gone-a', status: 6, auditTime: at(50) };
    expect((await tell(api, 'gone', late)).outcome).toBe('expired');
    expect((await api.post('/v1/pictures/gone-a/callbacks', { ...late, waitSeconds: 20 })).body.outcome).toBe(
      'expired',
    );
    expect((await logOf(api, 'gone')).at(-1)).toMatchObject({
      outcome: 'expired',
      reason: 'removed',
      targetId: 'gone-a',
    });
    const back = await put(api, 'gone', plain('gone'), 200);
    expect(back.pictures[0]).toEqual({ id: 'gone-a', position: 0, status: 1, auditTime: null });
    expect((await tell(api, 'gone', { ...late, auditTime: at(2) })).outcome).toBe('applied');
    expect((await stores(api, 'gone')).inStep).toBe(true);
  });

  test('has its place among callbacks that come at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const id = `among-${round}`;
      await put(api, id, plain(id));
      const picture = (n: number) =>
        tell(api, id, { kind: 'picture', targetId: `${id}-${'abc'[n % 3]}`, status: n + 10 });
      const edit = put(api, id, { ...plain(id), pictures: [{ id: `${id}-a`, status: 1 }] }, 200);
      const answers = await Promise.all([...repeat(9, (n) => picture(n)), edit]);
      const log = await logOf(api, id);
      const place = log.findIndex((l) => l.kind === 'edit');
      expect(answers).toHaveLength(10);
      for (const [n, line] of log.entries())
        if (line.kind === 'picture')
          expect(line.outcome).toBe(n > place && line.targetId !== `${id}-a` ? 'expired' : 'applied');
      expect((await stores(api, id)).inStep).toBe(true);
    }
  });

  test('a picture of another review is refused, and nothing is changed', async () => {
    await put(api, 'mine', plain('mine'));
    await put(api, 'yours', plain('yours'));
    const before = await review('yours');
    const taken = {
      ...plain('yours'),
      pictures: [
        { id: 'yours-z', status: 1 },
        { id: 'mine-b', status: 1 },
      ],
    };
    expectProblem(await api.put('/v1/reviews/yours', taken), 'taken', 'id_conflict');
    expectProblem(await api.put('/v1/reviews/theirs', taken), 'taken', 'id_conflict');
    expect(await review('yours')).toEqual(before);
    expect((await api.get('/v1/reviews/theirs')).status).toBe(404);
    expect(await logOf(api, 'yours')).toEqual([]);
  });
});

test('S1.2 acknowledged is kept: 202 at once, the outcome a moment later', async () => {
  await put(api, 'ack', plain('ack'));
  const { callbackId, outcome } = await drop(api, 'ack', { kind: 'text', status: 2 });
  expect(outcome).toBe('pending');
  const later = await tell(api, 'ack', { kind: 'text', status: 3 });
  expect(later.outcome).toBe('applied');
  expect((await logOf(api, 'ack'))[0]).toMatchObject({ callbackId, outcome: 'applied', status: 2 });
});

test('S1 reviews are listed newest first, page by page', async () => {
  for (const id of ['l-1', 'l-2', 'l-3']) await put(api, id, plain(id));
  const first = (await api.get('/v1/reviews?limit=2')).body;
  expect(first.items.map((r: Json) => r.id)).toEqual(['l-3', 'l-2']);
  expect(first.items[0]).toEqual(await review('l-3'));
  expect((await api.get(`/v1/reviews?limit=2&cursor=${first.nextCursor}`)).body.items[0].id).toBe('l-1');
});

describe('S1 bad input changes nothing', () => {
  test('callbacks', async () => {
    await put(api, 'bad', plain('bad'));
    const path = '/v1/reviews/bad/callbacks';
    const ok = { kind: 'picture', targetId: 'bad-a', status: 2 };
    const far = new Date(Date.now() + 400_000).toISOString();
    for (const body of [
      {},
      { ...ok, status: 'two' },
      { ...ok, status: 1.5 },
      { ...ok, status: 2 ** 31 },
      { ...ok, kind: 'video' },
      { ...ok, targetId: undefined },
      { ...ok, auditTime: 'yesterday' },
      { ...ok, auditTime: far },
      { ...ok, callbackId: 'a b' },
      { ...ok, waitSeconds: 61 },
      { ...ok, more: 1 },
    ])
      expectProblem(await api.post(path, body), JSON.stringify(body), 'invalid_request');
    expectProblem(await api.post('/v1/reviews/none/callbacks', ok), 'review', 'not_found');
    for (const targetId of ['mine-a', 'nobody'])
      expectProblem(await api.post(path, { ...ok, targetId }), targetId, 'not_found');
    expectProblem(await api.post(path, { ...ok, kind: 'reply' }), 'kind', 404);
    expectProblem(await api.post('/v1/pictures/nobody/callbacks', { status: 1 }), 'picture', 404);
    const elsewhere = await api.post('/v1/pictures/bad-a/callbacks', { status: 1, targetId: 'bad-b' });
    expectProblem(elsewhere, 'elsewhere', 422);
    const soon = new Date(Date.now() + 200_000).toISOString();
    expect((await tell(api, 'bad', { ...ok, auditTime: soon })).outcome).toBe('applied');
    expect(await logOf(api, 'bad')).toHaveLength(1);
  });

  test('reviews', async () => {
    for (const body of [
      {},
      { text: {} },
      { text: { status: null } },
      { text: { status: 1 }, pictures: [{ id: 'x' }] },
      {
        text: { status: 1 },
        pictures: [
          { id: 'x', status: 1 },
          { id: 'x', status: 2 },
        ],
      },
      { text: { status: 1 }, pictures: repeat(10_001, (n) => ({ id: `many-${n}`, status: 1 })) },
      { text: { status: 1 }, callback: { url: 'ftp://x', secret: `whsec_${'A'.repeat(32)}` } },
    ])
      expectProblem(await api.put('/v1/reviews/wrong', body), JSON.stringify(body).slice(0, 80), 422);
    expect((await api.get('/v1/reviews/wrong')).status).toBe(404);
  });

  test('10,000 pictures are a review like any other', async () => {
    const pictures = repeat(10_000, (n) => ({ id: `big-${n}`, status: 1 }));
    await put(api, 'big', { text: { status: 1 }, pictures, replies: [] });
    const some = [0, 17, 9_999];
    for (const n of some) await tell(api, 'big', { kind: 'picture', targetId: `big-${n}`, status: 5 });
    const { pictures: now } = await review('big');
    expect(now.filter((p: Json) => p.status === 5).map((p: Json) => p.position)).toEqual(some);
    expect((await stores(api, 'big')).inStep).toBe(true);
  }, 60_000);
});
