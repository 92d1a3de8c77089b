import { expect, test } from 'vitest';
import { repeat } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const { addTask, addTemplate, patchTask, sendTask } = api.tasks;
await addTemplate('form', {
  name: { type: 'string' },
  amount: { type: 'number' },
  urgent: { type: 'boolean', required: false },
  place: { type: 'object', required: false },
});
const right = { name: 'shelf', amount: 3, urgent: true, place: { aisle: 4 } };
const task = { templateId: 'form', executor: 'uid_t' };

test('S4.1 params that match their template are taken as they are', async () => {
  expect((await addTask({ ...task, id: 'right', params: right })).params).toEqual(right);
  const least = { name: '', amount: 0 };
  expect((await addTask({ ...task, id: 'least', params: least })).params).toEqual(least);
});

const WRONG: [string, object, string[]][] = [
  ['nothing at all', {}, ['params.name', 'params.amount']],
  [
    'wrong types',
    { name: 5, amount: '3', urgent: 'yes', place: [] },
    ['params.name', 'params.amount', 'params.urgent', 'params.place'],
  ],
  ['null', { name: null, amount: 1 }, ['params.name']],
  ['one too many', { ...right, color: 'red' }, ['params.color']],
  ['a name of every object', { ...right, constructor: 1 }, ['params.constructor']],
];

test.each(WRONG)('S4.1 %s: refused at creation, every mismatch named', async (_, params, paths) => {
  const { status, body } = await sendTask({ ...task, params });
  expect([status, body.code]).toEqual([422, 'template_mismatch']);
  expect(body.errors.map((e: { path: string }) => e.path)).toEqual(paths);
});

test.each(WRONG)('S4.1 %s: refused at a change, which changes nothing', async (name, params, paths) => {
  const id = `change-${WRONG.findIndex(([n]) => n === name)}`;
  await addTask({ ...task, id, params: right });
  const { status, body } = await api.patch(`/v1/tasks/${id}`, { params, dispatchTimes: 7 });
  expect([status, body.code]).toEqual([422, 'template_mismatch']);
  expect(body.errors.map((e: { path: string }) => e.path)).toEqual(paths);
  expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ params: right, dispatchTimes: 1 });
});

test('S4.1 another template is another measure', async () => {
  await addTemplate('other', { color: { type: 'string' } });
  await addTask({ ...task, id: 'move', params: right });
  expect((await api.patch('/v1/tasks/move', { templateId: 'other' })).body.code).toBe('template_mismatch');
  expect(await patchTask('move', { templateId: 'other', params: { color: 'red' } })).toMatchObject({
    templateId: 'other',
  });
  const unknown = await sendTask({ ...task, templateId: 'nobody', params: {} });
  expect([unknown.status, unknown.body.errors[0].path]).toEqual([422, 'templateId']);
});

test('S4.1 a template again is the same one, with other content a conflict; lists begin with the newest', async () => {
  const sent = { id: 'again', name: 'Again', params: { a: { type: 'number', required: false } } };
  expect((await api.post('/v1/templates', sent)).status).toBe(201);
  expect((await api.post('/v1/templates', sent)).status).toBe(200);
  expect((await api.post('/v1/templates', { ...sent, name: 'Else' })).body.code).toBe('id_conflict');
  expect((await api.get('/v1/templates/again')).body).toMatchObject(sent);
  expect((await api.get('/v1/templates/none')).status).toBe(404);
  expect((await api.get('/v1/templates?limit=1')).body.items[0].id).toBe('again');
  expect((await api.post('/v1/templates', { name: 'without an id' })).body.id).toMatch(/./);
});

test('S4.1 a template is changed: tasks keep the version that they were made with; parameters may be arrays', async () => {
  await addTemplate('grow', { list: { type: 'array' } });
  const grow = { templateId: 'grow', executor: 'uid_t' };
  expect((await sendTask({ ...grow, params: { list: {} } })).body.code).toBe('template_mismatch');
  expect(await addTask({ ...grow, id: 'grow', params: { list: [1] } })).toMatchObject({ templateVersion: 1 });
  const params = { list: { type: 'array', required: false }, size: { type: 'number', required: true } };
  const patched = await Promise.all(repeat(50, () => api.patch('/v1/templates/grow', { params })));
  for (const { status, body } of patched) expect([status, body.version, body.params]).toEqual([200, 2, params]);
  expect((await api.patch('/v1/templates/grow', { name: 'Growing' })).body).toMatchObject({ version: 2, params });
  expect((await sendTask({ ...grow, params: { list: [1] } })).body.code).toBe('template_mismatch');
  expect(await patchTask('grow', { params: { list: [2] } })).toMatchObject({ templateVersion: 1 });
  expect((await api.patch('/v1/tasks/grow', { params: { size: 1 } })).body.code).toBe('template_mismatch');
  const now = { templateId: 'grow', params: { size: 1 } };
  expect(await patchTask('grow', now)).toMatchObject({ templateVersion: 2, params: { size: 1 } });
  expect((await api.patch('/v1/templates/none', { name: 'x' })).status).toBe(404);
});
