import { expect, test } from 'vitest';
import { repeat } from '../support/client.ts';
import { erased } from '../support/erasures.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });
const { add, claim, claimOne, configure, decide } = api.tickets;
const { addTask, addTemplate, deleteTask, sendTask } = api.tasks;

const QUEUE = '图片审核';
const ANNA = 'Анна Ⅷ/?#%*';
const path = encodeURIComponent;
const ok = async (reply: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await reply;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
};

test('S0.6 queues and reviewers have names in any script, on every call', async () => {
  await configure(path(QUEUE), { maxHeld: 2 });
  await add(path(QUEUE), { id: 'named', exclude: ['model:some'] });
  const held = await claimOne(path(QUEUE), ANNA);
  expect(held.lease.reviewer).toBe(ANNA);
  const explained = await api.post(`/v1/queues/${path(QUEUE)}/explain`, { reviewer: ANNA, ticket: 'named' });
  expect(explained.body.why).toContain('heldByYou');
  const listed = async (query: string) =>
    (await api.get(`/v1/tickets?${query}`)).body.items.map((t: { id: string }) => t.id);
  expect(await listed(`queue=${path(QUEUE)}&reviewer=${path(ANNA)}`)).toEqual(['named']);
  await ok(decide(held));
  expect(await listed(`reviewer=${path(ANNA)}&state=decided`)).toEqual(['named']);
  expect((await api.get(`/v1/queues/${path(QUEUE)}/stats`)).body).toMatchObject({ decided: 1 });
  await ok(api.get(`/v1/figures?kind=ticket&queue=${path(QUEUE)}`));
  expect((await api.get('/metrics')).body).toContain(`queue="${QUEUE}"`);
});

test('S2.1 S3.2 S4.1 courts, jurors, topics, schedules, groups, users and templates likewise', async () => {
  const [court, juror, topic, group, user, template] = ['法庭', 'ジュロル', 'тема', 'فريق', 'Zoë', 'modèle'].map((n) =>
    n.normalize(),
  );
  const settings = { options: ['a', 'b'], votesToWin: 1 };
  await ok(api.put(`/v1/courts/${path(court ?? '')}`, settings));
  await ok(api.put(`/v1/courts/${path(court ?? '')}/jurors`, { jurors: [{ id: juror }] }));
  await ok(api.post(`/v1/courts/${path(court ?? '')}/cases`, { id: 'case', body: 1 }));
  const claimed = await api.post(`/v1/courts/${path(court ?? '')}/claim`, { juror });
  expect(claimed.body.case.id).toBe('case');
  await ok(api.put(`/v1/topics/${path(topic ?? '')}`, {}));
  await ok(api.put(`/v1/groups/${path(group ?? '')}`, { members: [user] }));
  await ok(api.post('/v1/templates', { id: template, name: 'T' }));
  const task = {
    id: 'task',
    type: 'once',
    executor: `gid_${group}`,
    startTime: new Date().toISOString(),
    templateId: template,
  };
  await ok(api.post('/v1/tasks', task));
  expect((await api.post(`/v1/clients/${path(user ?? '')}/next`, {})).body.task.id).toBe('task');
});

test('S0.9 no item is named . or .., and those that are end by a list of ids', async () => {
  for (const id of ['.', '..']) {
    expectProblem(await api.post('/v1/queues/dots/tickets', { id, body: 1 }), 'ticket', 'invalid_request');
    expectProblem(await api.post('/v1/courts/dots/cases', { id, body: 1 }), 'case', 'invalid_request');
    expectProblem(await api.post('/v1/templates', { id, name: 'x' }), 'template', 'invalid_request');
    expect((await sendTask({ id, executor: 'uid_u' })).body.errors).toMatchObject([{ path: 'id' }]);
    expectProblem(
      await api.put('/v1/courts/dots', { options: ['a'], votesToWin: 1, fallback: { queue: id } }),
      'court',
      'invalid_request',
    );
    expectProblem(await api.post('/v1/tickets/named/transfer', { queue: id }), 'transfer', 'invalid_request');
    await add('dots', { id: `dot${id}` });
    await sql(
      `update item set id = '${id}' where id = 'dot${id}'; update event set item_id = '${id}' where item_id = 'dot${id}'`,
    );
  }
  const invalidated = await api.post('/v1/queues/dots/invalidate', { ids: ['.'], reason: 'r' });
  expect(invalidated.body).toMatchObject({ invalidated: 1 });
  const resolved = await api.post('/v1/tickets/resolve', { items: [{ id: '..', decision: 1 }], reason: 'r' });
  expect(resolved.body.results).toMatchObject([{ id: '..', httpStatus: 200 }]);
});

test('S0.9 S2.1 S4.3 cases and tasks that are named . or .. from earlier on end by their erasure', async () => {
  await ok(api.put('/v1/courts/dots', { options: ['a', 'b'], votesToWin: 1 }));
  await ok(api.put('/v1/courts/dots/jurors', { jurors: [{ id: 'j' }] }));
  await ok(api.post('/v1/courts/dots/cases', { id: 'dot', parties: [{ id: 'p' }], body: 1 }));
  await addTemplate('dots');
  await addTask({ id: 'dot', executor: 'uid_dotted', templateId: 'dots' });
  for (const [table, column] of Object.entries({ item: 'id', event: 'item_id', case_file: 'id', task: 'id' }))
    await sql(`update ${table} set ${column} = regexp_replace(${column}, '^dot(?=/|$)', '.')`);
  for (const kind of ['case', 'task']) {
    await erased(api, { item: { kind, id: '.' } });
    const open = await sql(`select from item where kind = $1 and id ~ '^[.](/|$)' and ended_at is null`, [kind]);
    expect(open, kind).toEqual([]);
  }
  expect((await api.post('/v1/courts/dots/claim', { juror: 'j' })).body.case).toBeNull();
  expect((await api.post('/v1/clients/dotted/next', {})).body.task).toBeNull();
});

test.each(['model:a', 'nexus/a', 'erased-a', 'a\u200bb', 'a\u202eb', 'A\u030a'])(
  'S0.6 nobody and nothing new is called %j',
  async (name) => {
    expectProblem(await api.post('/v1/queues/named/claim', { reviewer: name }), 'reviewer', 'invalid_request');
    expectProblem(await api.put(`/v1/queues/${path(name)}`, {}), 'queue', 'invalid_request');
    expectProblem(await api.post(`/v1/queues/${path(name)}/tickets`, { body: 1 }), 'first ticket', 'invalid_request');
    expectProblem(await api.put(`/v1/topics/${path(name)}`, {}), 'topic', 'invalid_request');
    expectProblem(await api.put('/v1/groups/some', { members: [name] }), 'member', 'invalid_request');
    const schedule = { everySeconds: 60, body: 1, TTR: 5 };
    expectProblem(await api.put(`/v1/topics/t/schedules/${path(name)}`, schedule), 'schedule', 'invalid_request');
  },
);

test('S0.10 no new queue, topic, court or group has a * in its name', async () => {
  for (const noun of ['queues', 'topics', 'courts', 'groups'])
    expectProblem(
      await api.put(`/v1/${noun}/a*`, noun === 'courts' ? { options: ['a'], votesToWin: 1 } : {}),
      noun,
      'invalid_request',
    );
  expectProblem(await api.post('/v1/queues/a*/tickets', { body: 1 }), 'ticket', 'invalid_request');
});

test('S0.10 an unknown queue is 404 for keys that are no administrator’s', async () => {
  const { key } = (await api.post('/v1/keys', { role: 'agent', name: 'bot' })).body;
  const agent = api.as(key);
  for (const [call, body] of Object.entries({ claim: { reviewer: 'a' }, explain: { reviewer: 'a' } }))
    expectProblem(await agent.post(`/v1/queues/unknown/${call}`, body), call, 'not_found');
  expectProblem(await agent.post('/v1/claim', { queues: ['unknown'], reviewer: 'a' }), 'several', 'not_found');
  expect((await api.post('/v1/queues/unknown/claim', { reviewer: 'a' })).body.tickets).toEqual([]);
  expectProblem(await api.get('/v1/queues/unknown'), 'none was made', 'not_found');
});

const remove = (path: string) => api.raw('DELETE', path);
const names = async (path: string) => (await api.get(path)).body.items.map((q: { name: string }) => q.name);

test('S0.5 a queue without tickets can be deleted, with its settings; its next ticket makes it again', async () => {
  await configure('empty', { maxHeld: 7, leaseSeconds: 9 });
  expect((await remove('/v1/queues/empty')).body).toEqual({ deleted: true });
  for (const path of ['', '/stats']) expect((await api.get(`/v1/queues/empty${path}`)).status).toBe(404);
  expect(await names('/v1/queues')).not.toContain('empty');
  expect(await remove('/v1/queues/empty')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await remove('/v1/queues/never')).toMatchObject({ status: 404, body: { code: 'not_found' } });

  await add('empty', { id: 'back' });
  expect((await api.get('/v1/queues/empty')).body).toMatchObject({ maxHeld: 1, leaseSeconds: 300 });
  expect(await names('/v1/queues')).toContain('empty');
  const held = await claim('empty', 'rita');
  expect(held.tickets).toMatchObject([{ id: 'back' }]);
  const refused = { status: 409, body: { code: 'in_use', detail: expect.stringContaining('has tickets') } };
  expect(await remove('/v1/queues/empty')).toMatchObject(refused);
  await api.post('/v1/tickets/back/invalidate', { reason: 'r' });
  expect(await remove('/v1/queues/empty')).toMatchObject(refused);
});

test('S0.5 B.2 a queue to which others send second looks or hung cases cannot be deleted before they send them elsewhere', async () => {
  await configure('named', {});
  await configure('front', { second: { share: 0, queue: 'named' } });
  const court = { options: ['a', 'b'], fallback: { queue: 'named' } };
  await api.put('/v1/courts/front-court', court);
  for (const [by, stop] of [
    ['queue front', () => configure('front', { second: { share: 0 } })],
    ['court front-court', () => remove('/v1/courts/front-court')],
  ] as const) {
    const { status, body } = await remove('/v1/queues/named');
    expect([status, body.code, body.detail]).toEqual([409, 'in_use', expect.stringContaining(by)]);
    await stop();
  }
  expect((await remove('/v1/queues/named')).body).toEqual({ deleted: true });
});

test('S0.5 a queue comes into being by its settings and by its first ticket only, also again', async () => {
  await add('elsewhere', { id: 'moving' });
  for (const act of [() => configure('again', {}), () => add('again', { id: 'again' })]) {
    await configure('again', {});
    expect((await remove('/v1/queues/again')).status).toBe(200);
    for (const path of ['queues/again/pause', 'tickets/moving/transfer'])
      expect((await api.post(`/v1/${path}`, path.endsWith('transfer') ? { queue: 'again' } : {})).status).toBe(404);
    // an administrator may wait for its first ticket
    expect((await claim('again', 'rita')).tickets).toEqual([]);
    expect((await api.get('/v1/queues/again')).status).toBe(404);
    await act();
    expect((await api.get('/v1/queues/again')).status).toBe(200);
  }
});

test('S0.6 tickets that are added while their queue is being deleted are all there, and handed out', async () => {
  for (let round = 0; round < 10; round++) {
    const queue = `race-${round}`;
    await configure(queue, { maxHeld: 100 });
    const added = repeat(10, (n) => add(queue, { id: `${queue}-${n}` }));
    await Promise.all([...added, remove(`/v1/queues/${queue}`)]);
    await configure(queue, { maxHeld: 100 });
    expect((await claim(queue, 'rita', { count: 100 })).tickets).toHaveLength(10);
  }
  expect(
    await sql(`select 1 from item i where kind = 'ticket' and not exists (select from queue q where q.name = i.queue)`),
  ).toEqual([]);
});

test('S3.2 a topic without jobs and schedules can be deleted', async () => {
  await api.put('/v1/topics/news', { maxAttempts: 3 });
  expect((await api.get('/v1/topics/news')).body).toMatchObject({ name: 'news', maxAttempts: 3, paused: false });
  await api.put('/v1/topics/news/schedules/daily', { cron: '0 0 1 1 *', body: 1 });
  expect(await remove('/v1/topics/news')).toMatchObject({ status: 409, body: { code: 'in_use' } });
  await remove('/v1/topics/news/schedules/daily');
  expect((await remove('/v1/topics/news')).body).toEqual({ deleted: true });
  expect(await names('/v1/topics')).not.toContain('news');
  expect((await remove('/v1/topics/news')).status).toBe(404);
  expect(await api.get('/v1/topics/news')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  await api.post('/v1/jobs', { command: 'add', topic: 'news', id: 'news-1', body: 1 });
  expect((await api.post('/v1/jobs', { command: 'pop', topic: 'news' })).body).toMatchObject({ id: 'news-1' });
  expect(await remove('/v1/topics/news')).toMatchObject({ status: 409, body: { code: 'in_use' } });
});

test('S4.1 a template that no active task uses can be deleted', async () => {
  await addTemplate('used');
  await addTask({ id: 'uses', executor: 'uid_rita', templateId: 'used' });
  expect(await remove('/v1/templates/used')).toMatchObject({ status: 409, body: { code: 'in_use' } });
  await deleteTask('uses');
  expect((await remove('/v1/templates/used')).body).toEqual({ deleted: true });
  expect((await api.get('/v1/templates/used')).status).toBe(404);
  expect((await remove('/v1/templates/used')).status).toBe(404);
  // its id is free again
  await addTemplate('used', { a: { type: 'string' } });
});

test('S4.1 no task is left without a template, whoever adds one while it is deleted', async () => {
  for (let round = 0; round < 20; round++) {
    await addTemplate(`gone-${round}`);
    const task = { id: `gone-${round}`, executor: 'uid_otto', templateId: `gone-${round}` };
    const [added, removed] = await Promise.all([sendTask(task), remove(`/v1/templates/gone-${round}`)]);
    const ends = `${added.status} ${removed.status}`;
    expect(['201 409', '422 200'], JSON.stringify([added.body, removed.body])).toContain(ends);
  }
});
