import { describe, expect, test } from 'vitest';
import { type Json, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

const { api, cell } = await startTestSystem();
const { drop, logOf, put, review, stores, tell } = api.reviews;
const plain = (id: string) => ({
  text: { status: 1 },
  pictures: ['a', 'b', 'c'].map((p) => ({ id: `${id}-${p}`, status: 1 })),
  replies: [{ id: 'r', status: 1 }],
});
const at = (seconds: number) => inMs(seconds * 1_000, '2026-11-01T12:00:00.000Z');

test('S1.1 three kinds of audit: none touches the status of another', async () => {
  const created = await put('kinds', plain('kinds'));
  expect(created).toMatchObject({ id: 'kinds', status: 1, text: { status: 1, auditTime: null }, body: null });
  expect(created.pictures.map((p: Json) => `${p.id} ${p.position}`)).toEqual(['kinds-a 0', 'kinds-b 1', 'kinds-c 2']);
  const statuses = async () => {
    const { status, text, pictures, replies } = await review('kinds');
    return [status, text.status, ...pictures.map((p: Json) => p.status), ...replies.map((r: Json) => r.status)];
  };
  await tell('kinds', { kind: 'picture', targetId: 'kinds-b', status: 2 });
  expect(await statuses()).toEqual([1, 1, 1, 2, 1, 1]);
  await tell('kinds', { kind: 'reply', targetId: 'r', status: 3 });
  expect(await statuses()).toEqual([1, 1, 1, 2, 1, 3]);
  await tell('kinds', { kind: 'text', status: 4 });
  expect(await statuses()).toEqual([4, 4, 1, 2, 1, 3]);
  const { version, text } = await review('kinds');
  expect(version).toBeGreaterThan(created.version);
  expect(text.auditTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('S1.3 the newest audit time wins; of equal ones the later arrival', async () => {
  await put('newest', plain('newest'));
  const picture = (status: number, seconds: number) =>
    tell('newest', { kind: 'picture', targetId: 'newest-a', status, auditTime: at(seconds) });
  expect((await picture(2, 10)).outcome).toBe('applied');
  expect((await picture(3, 9.999)).outcome).toBe('expired');
  expect((await picture(4, 10)).outcome).toBe('applied');
  expect((await review('newest')).pictures[0]).toEqual({ id: 'newest-a', position: 0, status: 4, auditTime: at(10) });
  const lines = await logOf('newest');
  const pictures = (l: Json) => [l.before.pictures[0].status, l.after.pictures[0].status];
  expect(lines.map((l) => [l.outcome, l.reason, l.status, ...pictures(l)])).toEqual([
    ['applied', null, 2, 1, 2],
    ['expired', 'older', 3, 2, 2],
    ['applied', null, 4, 2, 4],
  ]);
});

test('S1.4 without an audit time it is the database’s clock at arrival, whatever the host’s says', async () => {
  await put('clock', plain('clock'));
  await tell('clock', { kind: 'text', status: 2 });
  const [line] = await logOf('clock');
  expect(line.auditTime).toBe(line.receivedAt);
  const since = 'select abs(extract(epoch from clock_timestamp() - $1::timestamptz))::float8';
  expect(await cell(since, [line.receivedAt])).toBeLessThan(20);
  expect(Date.parse(line.appliedAt)).toBeGreaterThanOrEqual(Date.parse(line.receivedAt));
});

test('S1.6 the same callback twice: a duplicate that names the first one’s outcome, with a line of its own', async () => {
  await put('twice', plain('twice'));
  const sent = { kind: 'picture', targetId: 'twice-a', status: 5, auditTime: at(5), callbackId: 'cb-1' };
  expect(await tell('twice', sent)).toEqual({ callbackId: 'cb-1', outcome: 'applied' });
  const again = { callbackId: 'cb-1', outcome: 'duplicate', first: { outcome: 'applied' } };
  expect(await tell('twice', { ...sent, status: 9, auditTime: at(9) })).toEqual(again);
  expect((await tell('twice', { ...sent, callbackId: 'cb-2', auditTime: at(1) })).outcome).toBe('expired');
  expect(await tell('twice', { ...sent, callbackId: 'cb-2' })).toMatchObject({ first: { outcome: 'expired' } });
  expect((await review('twice')).pictures[0].status).toBe(5);
  expect((await logOf('twice')).map((l) => l.outcome)).toEqual(['applied', 'duplicate', 'expired', 'duplicate']);
  await put('other', plain('other'));
  expect((await tell('other', { kind: 'text', status: 2, callbackId: 'cb-1' })).outcome).toBe('applied');
});

test('S1.6 fifty callers with one callback: applied once, and each is told so', async () => {
  await put('fifty', plain('fifty'));
  const sent = { kind: 'text', status: 7, callbackId: 'once' };
  const answers = await Promise.all(repeat(50, () => tell('fifty', sent)));
  expect(answers.filter((a) => a.outcome === 'applied')).toHaveLength(1);
  expect(answers.filter((a) => a.outcome === 'duplicate' && a.first.outcome === 'applied')).toHaveLength(49);
});

describe('S1.9 the author’s edit', () => {
  test('keeps status and audit time of what stays, takes the status of what is new, in the new order', async () => {
    await put('edit', plain('edit'));
    await tell('edit', { kind: 'picture', targetId: 'edit-b', status: 5, auditTime: at(1) });
    await tell('edit', { kind: 'text', status: 3, auditTime: at(2) });
    const part = (id: string, status: number) => ({ id, status });
    const [pictures, replies] = [
      [part('edit-d', 6), part('edit-b', 8)],
      [part('r', 8), part('s', 2)],
    ];
    const edited = await put('edit', { text: { status: 8 }, pictures, replies, body: { words: 'new' } }, 200);
    expect(edited).toMatchObject({ status: 3, text: { status: 3, auditTime: at(2) }, body: { words: 'new' } });
    expect(edited.pictures).toEqual([
      { id: 'edit-d', position: 0, status: 6, auditTime: null },
      { id: 'edit-b', position: 1, status: 5, auditTime: at(1) },
    ]);
    expect(edited.replies.map((r: Json) => r.status)).toEqual([1, 2]);
    expect((await stores('edit')).inStep).toBe(true);
    const line = (await logOf('edit')).at(-1);
    expect(line).toMatchObject({ seq: 3, kind: 'edit', outcome: 'edited', callbackId: null, version: edited.version });
    expect(line.before.pictures.map((p: Json) => p.id)).toEqual(['edit-a', 'edit-b', 'edit-c']);
    expect(line.after.pictures.map((p: Json) => p.id)).toEqual(['edit-d', 'edit-b']);
  });

  test('a callback for what was removed is expired, and says why; put back, it has the author’s status and its last audit time', async () => {
    await put('gone', plain('gone'));
    await tell('gone', { kind: 'picture', targetId: 'gone-a', status: 5, auditTime: at(1) });
    await put('gone', { ...plain('gone'), pictures: [] }, 200);
    const late = { kind: 'picture', targetId: 'gone-a', status: 6, auditTime: at(50) };
    expect((await tell('gone', late)).outcome).toBe('expired');
    const direct = await api.post('/v1/pictures/gone-a/callbacks', { ...late, waitSeconds: 20 });
    expect(direct.body.outcome).toBe('expired');
    const line = { outcome: 'expired', reason: 'removed', targetId: 'gone-a' };
    expect((await logOf('gone')).at(-1)).toMatchObject(line);
    const back = await put('gone', plain('gone'), 200);
    expect(back.pictures[0]).toEqual({ id: 'gone-a', position: 0, status: 1, auditTime: at(1) });
    expect((await tell('gone', { ...late, auditTime: at(0) })).outcome).toBe('expired');
    expect((await tell('gone', { ...late, auditTime: at(2) })).outcome).toBe('applied');
    expect((await stores('gone')).inStep).toBe(true);
  });

  test('S1.3 a picture that is removed and added to another review keeps its last audit time', async () => {
    const picture = { pictures: [{ id: 'moved-p', status: 1 }] };
    await put('moved-from', { ...plain('moved-from'), ...picture });
    await tell('moved-from', { kind: 'picture', targetId: 'moved-p', status: 5, auditTime: at(10) });
    await put('moved-from', { ...plain('moved-from'), pictures: [] }, 200);
    const { pictures } = await put('moved-to', { ...plain('moved-to'), ...picture });
    expect(pictures).toEqual([{ id: 'moved-p', position: 0, status: 1, auditTime: at(10) }]);
    const callback = { kind: 'picture', targetId: 'moved-p', status: 6 };
    expect((await tell('moved-to', { ...callback, auditTime: at(9) })).outcome).toBe('expired');
    expect((await tell('moved-to', { ...callback, auditTime: at(10) })).outcome).toBe('applied');
  });

  test('has its place among callbacks that come at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const id = `among-${round}`;
      await put(id, plain(id));
      const picture = (n: number) => tell(id, { kind: 'picture', targetId: `${id}-${'abc'[n % 3]}`, status: n + 10 });
      const edit = put(id, { ...plain(id), pictures: [{ id: `${id}-a`, status: 1 }] }, 200);
      const answers = await Promise.all([...repeat(9, (n) => picture(n)), edit]);
      const log = await logOf(id);
      const place = log.findIndex((l) => l.kind === 'edit');
      expect(answers).toHaveLength(10);
      for (const [n, line] of log.entries())
        if (line.kind === 'picture')
          expect(line.outcome).toBe(n > place && line.targetId !== `${id}-a` ? 'expired' : 'applied');
      expect((await stores(id)).inStep).toBe(true);
    }
  });

  test('a picture of another review is refused, and nothing is changed', async () => {
    await put('mine', plain('mine'));
    await put('yours', plain('yours'));
    const before = await review('yours');
    const pictures = ['yours-z', 'mine-b'].map((id) => ({ id, status: 1 }));
    const taken = { ...plain('yours'), pictures };
    expectProblem(await api.put('/v1/reviews/yours', taken), 'taken', 'id_conflict');
    expectProblem(await api.put('/v1/reviews/theirs', taken), 'taken', 'id_conflict');
    expect(await review('yours')).toEqual(before);
    expect((await api.get('/v1/reviews/theirs')).status).toBe(404);
    expect(await logOf('yours')).toEqual([]);
  });
});

test('S1.2 acknowledged is kept: 202 at once, the outcome a moment later', async () => {
  await put('ack', plain('ack'));
  const { callbackId, outcome } = await drop('ack', { kind: 'text', status: 2 });
  expect(outcome).toBe('pending');
  const later = await tell('ack', { kind: 'text', status: 3 });
  expect(later.outcome).toBe('applied');
  expect((await logOf('ack'))[0]).toMatchObject({ callbackId, outcome: 'applied', status: 2 });
});

test('S1 reviews are listed newest first, page by page', async () => {
  for (const id of ['l-1', 'l-2', 'l-3']) await put(id, plain(id));
  const first = (await api.get('/v1/reviews?limit=2')).body;
  expect(first.items.map((r: Json) => r.id)).toEqual(['l-3', 'l-2']);
  expect(first.items[0]).toEqual(await review('l-3'));
  expect((await api.get(`/v1/reviews?limit=2&cursor=${first.nextCursor}`)).body.items[0].id).toBe('l-1');
});

test('S1.3 audit times differ by microseconds, and are shown with them; more digits are refused', async () => {
  await put('micro', plain('micro'));
  const text = (status: number, digits: string) => ({
    kind: 'text',
    status,
    auditTime: `2026-11-01T12:00:00.${digits}Z`,
  });
  expect((await tell('micro', text(2, '123900'))).outcome).toBe('applied');
  expect((await tell('micro', text(3, '123100'))).outcome).toBe('expired');
  expect((await review('micro')).text).toEqual({ status: 2, auditTime: '2026-11-01T12:00:00.123900Z' });
  expect((await logOf('micro')).map((l) => [l.auditTime, l.after.text.auditTime])).toEqual(
    ['123900', '123100'].map((digits) => [`2026-11-01T12:00:00.${digits}Z`, '2026-11-01T12:00:00.123900Z']),
  );
  expect((await tell('micro', text(4, '124000'))).outcome).toBe('applied');
  expect((await review('micro')).text.auditTime).toBe('2026-11-01T12:00:00.124Z');
  expect((await stores('micro')).inStep).toBe(true);
  const sent = await api.post('/v1/reviews/micro/callbacks', text(5, '1240001'));
  expectProblem(sent, 'seven digits', 'invalid_request');
});

describe('S1 several callbacks in one call', () => {
  const picture = (id: string, letter: string, status: number, more: object = {}) => ({
    ...{ kind: 'picture', targetId: `${id}-${letter}`, status, ...more },
  });

  test('are answered in order, and applied in order', async () => {
    await put('some', plain('some'));
    const callbacks = [
      picture('some', 'a', 2, { callbackId: 'first', auditTime: at(5) }),
      picture('some', 'a', 3, { auditTime: at(4) }),
      picture('some', 'b', 4),
      picture('some', 'c', 5, { callbackId: 'first' }),
    ];
    const { results } = await tell('some', { callbacks });
    expect(results.map((r: Json) => r.outcome)).toEqual(['applied', 'expired', 'applied', 'duplicate']);
    expect(results[3]).toEqual({ callbackId: 'first', outcome: 'duplicate', first: { outcome: 'applied' } });
    expect((await review('some')).pictures.map((p: Json) => p.status)).toEqual([2, 4, 1]);
    const pending = await drop('some', { callbacks: [picture('some', 'c', 6, { callbackId: 'late' })] });
    expect(pending).toEqual({ results: [{ callbackId: 'late', outcome: 'pending' }] });
  });

  test('a bad one refuses all, and is named by its index', async () => {
    await put('none', plain('none'));
    const good = picture('none', 'a', 2);
    const far = new Date(Date.now() + 400_000).toISOString();
    for (const [bad, code, path] of [
      [{ ...good, status: 'two' }, 'invalid_request', 'callbacks.1.status'],
      [{ ...good, targetId: undefined }, 'invalid_request', 'callbacks.1.targetId'],
      [{ ...good, auditTime: far }, 'invalid_request', 'callbacks.1.auditTime'],
      [picture('none', 'z', 2), 'not_found', 'callbacks.1'],
    ] as const) {
      const reply = await api.post('/v1/reviews/none/callbacks', { callbacks: [good, bad, good] });
      expectProblem(reply, path, code);
      expect(reply.body.errors.map((e: Json) => e.path)).toEqual([path]);
    }
    for (const callbacks of [[], repeat(101, () => good)])
      expectProblem(await api.post('/v1/reviews/none/callbacks', { callbacks }), 'how many', 'invalid_request');
    await tell('none', { kind: 'text', status: 2 });
    expect(await logOf('none')).toHaveLength(1);
  });
});

describe('S1 bad input changes nothing', () => {
  test('callbacks', async () => {
    await put('bad', plain('bad'));
    const path = '/v1/reviews/bad/callbacks';
    const ok = { kind: 'picture', targetId: 'bad-a', status: 2 };
    const far = inMs(400_000);
    for (const wrong of [{ targetId: undefined }, { auditTime: far }, { status: 2 ** 31 }])
      expectProblem(await api.post(path, { ...ok, ...wrong }), JSON.stringify(wrong), 'invalid_request');
    expectProblem(await api.post('/v1/reviews/none/callbacks', ok), 'review', 'not_found');
    for (const targetId of ['mine-a', 'nobody'])
      expectProblem(await api.post(path, { ...ok, targetId }), targetId, 'not_found');
    expectProblem(await api.post(path, { ...ok, kind: 'reply' }), 'kind', 404);
    expectProblem(await api.post('/v1/pictures/nobody/callbacks', { status: 1 }), 'picture', 404);
    const elsewhere = await api.post('/v1/pictures/bad-a/callbacks', { status: 1, targetId: 'bad-b' });
    expectProblem(elsewhere, 'elsewhere', 422);
    const soon = inMs(200_000);
    expect((await tell('bad', { ...ok, auditTime: soon })).outcome).toBe('applied');
    expect(await logOf('bad')).toHaveLength(1);
  });

  test('reviews', async () => {
    for (const body of [
      { text: { status: null } },
      { text: { status: 1 }, pictures: [{ id: 'x' }] },
      { text: { status: 1 }, pictures: [1, 2].map((status) => ({ id: 'x', status })) },
      { text: { status: 1 }, pictures: repeat(10_001, (n) => ({ id: `many-${n}`, status: 1 })) },
    ])
      expectProblem(await api.put('/v1/reviews/wrong', body), JSON.stringify(body).slice(0, 80), 422);
    expect((await api.get('/v1/reviews/wrong')).status).toBe(404);
  });

  test('10,000 pictures are a review like any other', async () => {
    const pictures = repeat(10_000, (n) => ({ id: `big-${n}`, status: 1 }));
    await put('big', { text: { status: 1 }, pictures, replies: [] });
    const some = [0, 17, 9_999];
    for (const n of some) await tell('big', { kind: 'picture', targetId: `big-${n}`, status: 5 });
    const { pictures: now } = await review('big');
    expect(now.filter((p: Json) => p.status === 5).map((p: Json) => p.position)).toEqual(some);
    expect((await stores('big')).inStep).toBe(true);
  }, 60_000);
});
