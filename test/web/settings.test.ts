import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually, insist, numbered } from '../support/client.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { confirm, fill, keys, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();
const queue = async (name: string) => (await api.get(`/v1/queues/${name}`)).body;

const save = async (page: Page) => {
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.ok());
  await press(page, 'Save settings');
  await saved;
  await sees(page, 'Saved.');
};

const addRuleAsJson = async (page: Page) => {
  await press(page, 'Add a rule');
  await press(page.getByRole('group', { name: 'Rule 1' }), 'Write as JSON');
};

const browser = useBrowser();

test('S0.2 what is changed of a queue is seen by the API, and everything else stays as it was', async () => {
  const form = { type: 'object', required: ['verdict'], properties: { verdict: { enum: ['ok', 'bad'] } } };
  const rules = [{ name: 'vip', when: { required: ['body'] }, add: 5, requires: ['de'] }];
  const callback = { url: 'http://127.0.0.1:9/x', secret: SECRET };
  await api.put('/v1/queues/kept', { leaseSeconds: 42.5, form, rules, callback, maxHeld: 3 });
  const before = await queue('kept');
  const page = await browser.open(`${api.url}/settings`);
  await page.getByRole('link', { name: 'kept' }).click();
  await fill(page, { 'Lease (seconds)': '60', 'On: Ageing': true, 'Wait for one level (seconds)': '90' });
  await sees(page, '= 1 min 30 s');
  await press(page, 'Add a step');
  const step = page.getByRole('group', { name: 'Step 1' });
  await fill(step, { 'After (seconds)': '30', Priority: '500' });
  await save(page);
  const escalations = [{ afterSeconds: 30, priority: 500 }];
  expect(await queue('kept')).toEqual({
    ...{ ...before, leaseSeconds: 60, ageing: { secondsPerLevel: 90 }, escalations },
    updatedAt: expect.any(String),
  });
});

test('S0.2 settings that two people change at once: neither overwrites the other', async () => {
  await api.put('/v1/queues/shared', { leaseSeconds: 100 });
  const page = await browser.open(`${api.url}/settings/queues/shared`);
  const lease = page.getByRole('textbox', { name: 'Lease (seconds)' });
  await lease.fill('200');
  await api.put('/v1/queues/shared', { leaseSeconds: 100, maxHeld: 7 });
  await save(page);
  expect(await queue('shared')).toMatchObject({ leaseSeconds: 200, maxHeld: 7 });
  await lease.fill('300');
  await api.put('/v1/queues/shared', { leaseSeconds: 250, maxHeld: 7 });
  await press(page, 'Save settings');
  await sees(page, 'Someone else has changed the same setting');
  expect(await queue('shared')).toMatchObject({ leaseSeconds: 250 });
  await press(page, 'Discard changes');
  await eventually(async () => (await lease.inputValue()) === '250');
});

test('S0.2 a rule that is no JSON Schema, and a number that is none, are shown at their fields; nothing is saved', async () => {
  await api.put('/v1/queues/wrong', {});
  const page = await browser.open(`${api.url}/settings/queues/wrong`);
  await addRuleAsJson(page);
  const when = page.getByRole('textbox', { name: 'When (JSON)' });
  await when.fill('{"type": "no such type"}');
  await submit(page, { 'Add to the priority': '5' }, 'Save settings');
  await eventually(async () => (await when.getAttribute('aria-invalid')) === 'true');
  await page.getByRole('group', { name: 'Rule 1' }).getByText('is not a JSON Schema that can be used').waitFor();
  expect(await when.evaluate((input) => input.matches(':focus'))).toBe(true);
  await submit(page, { 'Lease (seconds)': 'soon' }, 'Save settings');
  await sees(page, 'must be a number');
  expect(await queue('wrong')).toMatchObject({ leaseSeconds: 300, rules: [] });
});

test('S0.2 a dry run says which tickets a rule would move, and moves none', async () => {
  await api.put('/v1/queues/dry', {});
  await api.post('/v1/queues/dry/tickets', { id: 'dry-1', body: { vip: true } });
  await api.post('/v1/queues/dry/tickets', { id: 'dry-2', body: { vip: false } });
  const page = await browser.open(`${api.url}/settings/queues/dry`);
  await addRuleAsJson(page);
  const when = { properties: { body: { properties: { vip: { const: true } } } } };
  await submit(page, { 'When (JSON)': JSON.stringify(when), 'Set the priority': '700' }, 'Dry run');
  await sees(page, 'Tickets that would change their priority or skills: 1');
  await page.getByRole('row', { name: 'dry-1 0 700' }).first().waitFor();
  expect((await api.get('/v1/tickets/dry-1')).body.priority).toBe(0);
  await save(page);
  await eventually(async () => (await api.get('/v1/tickets/dry-1')).body.priority === 700);
});

test('S0.2 a rule over a field that tickets do not have warns when it is tried and when it is saved', async () => {
  await api.post('/v1/queues/odd/tickets', { id: 'odd-1', body: { vip: true } });
  const page = await browser.open(`${api.url}/settings/queues/odd`);
  await addRuleAsJson(page);
  await submit(page, { 'When (JSON)': '{"required": ["vip"]}', 'Set the priority': '700' }, 'Dry run');
  await sees(
    page,
    'rule 0 looks at vip, which tickets do not have',
    'No ticket would change its priority or its skills.',
  );
  await save(page);
  await page.getByText('No ticket would change').waitFor({ state: 'detached' });
  await sees(page, 'rule 0 looks at vip, which tickets do not have');
  await fill(page, { 'Set the priority': '800' });
  await save(page);
  await eventually(async () => (await queue('odd')).rules[0].priority === 800);
});

test('S0.4 a queue that is paused by its page hands nothing out until it is resumed; the same of a topic', async () => {
  await api.post('/v1/queues/halted/tickets', { id: 'halted-1', body: 1 });
  const page = await browser.open(`${api.url}/settings/queues/halted`);
  await confirm(page, 'Pause');
  await sees(page, 'halted is paused: nothing is handed out.');
  const claim = () => api.post('/v1/queues/halted/claim', { reviewer: 'anna' });
  expect((await claim()).body).toMatchObject({ tickets: [], reasons: { paused: 1 } });
  const list = await browser.open(`${api.url}/queues/ticket/halted`);
  await list.getByText('Paused', { exact: true }).waitFor();
  await press(page, 'Resume');
  await sees(page, 'halted hands out again.');
  expect((await claim()).body.tickets).toHaveLength(1);

  await api.put('/v1/topics/a%2Fb%20c', { maxAttempts: 4 });
  await api.post('/v1/jobs', { command: 'add', topic: 'a/b c', id: 'j1', delay: 0, TTR: 60, body: 1 });
  await page.goto(`${api.url}/settings`);
  await page.getByRole('link', { name: 'a/b c', exact: true }).click();
  await confirm(page, 'Pause');
  await sees(page, 'a/b c is paused');
  expect((await api.post('/v1/jobs', { command: 'pop', topic: 'a/b c' })).body.id).toBeNull();
  expect((await api.get('/v1/topics/a%2Fb%20c')).body).toMatchObject({ paused: true, maxAttempts: 4 });
});

test('S2.8 a court is made by its form, changed with a dry run that names the case it would decide', async () => {
  const page = await browser.open(`${api.url}/settings`);
  await press(page, 'New court');
  await submit(page, { Name: 'disputes' }, 'Continue');
  await sees(page, 'It does not exist yet.');
  await fill(page, { 'Votes to win': '3', Options: 'guilty\nnot guilty' });
  await fill(page, { 'At the deadline': 'On to a review queue', 'On to a review queue': 'appeals' });
  await save(page);
  const { body } = await api.get('/v1/courts/disputes');
  expect(body).toMatchObject({ votesToWin: 3, options: ['guilty', 'not guilty'], fallback: { queue: 'appeals' } });
  await api.put('/v1/courts/disputes/jurors', { jurors: [{ id: 'j1' }] });
  await api.post('/v1/courts/disputes/cases', { id: 'c1', parties: [], body: 1 });
  const { lease } = (await api.post('/v1/courts/disputes/claim', { juror: 'j1' })).body;
  await api.post('/v1/cases/c1/votes', { token: lease.token, option: 'guilty' });
  await submit(page, { 'Votes to win': '1' }, 'Dry run');
  await sees(page, 'Open cases that would be decided at once: 1');
  await page.getByText('c1', { exact: true }).waitFor();
  await submit(page, { 'Votes to win': '5' }, 'Dry run');
  await sees(page, 'Open cases that would need more votes than now: 1');
  expect((await api.get('/v1/cases/c1')).body.state).toBe('open');
  await fill(page, { 'Decided by': 'Records of the voters', Probability: '0.9', 'Votes at most': '15' });
  await save(page);
  const saved = { strategy: { decide: 'posterior' }, probability: 0.9, maxVotes: 15 };
  expect((await api.get('/v1/courts/disputes')).body).toMatchObject(saved);
});

test('a queue is deleted by its page, unless it has tickets', async () => {
  await api.put('/v1/queues/empty', {});
  await api.post('/v1/queues/full/tickets', { body: 1 });
  const page = await browser.open(`${api.url}/settings/queues/full`);
  const remove = async () => {
    await press(page, 'Delete');
    await press(page.getByRole('dialog'), 'Delete');
  };
  await remove();
  await sees(page, 'queue full has tickets');
  await page.goto(`${api.url}/settings/queues/empty`);
  await remove();
  await sees(page, 'empty is deleted.');
  expect((await api.get('/v1/queues/empty')).status).toBe(404);
  expect((await api.get('/v1/queues/full')).status).toBe(200);
});

test('the keyboard alone changes a setting', async () => {
  await api.put('/v1/queues/keys', {});
  const page = await browser.open(`${api.url}/settings/queues/keys`);
  await page.getByRole('textbox', { name: 'Lease (seconds)' }).focus();
  await keys(page, 'ControlOrMeta+a');
  await page.keyboard.type('77');
  await keys(page, 'Enter');
  await sees(page, 'Saved.');
  expect((await queue('keys')).leaseSeconds).toBe(77);
});

test('S2.3 an administrator adds jurors from a list, and B.5 gold tickets', async () => {
  await api.put('/v1/courts/listed', {});
  await api.put('/v1/queues/listed', {});
  const page = await browser.open(`${api.url}/settings/courts/listed`);
  await confirm(page, 'Add jurors', 'Add jurors', { Jurors: 'carla\ncarla-2, carla\n' });
  await sees(page, 'Jurors of the court now: 2');
  expect((await api.get('/v1/courts/listed/jurors/carla-2')).body.eligible).toBe(true);
  await page.goto(`${api.url}/settings/queues/listed`);
  const tickets = '[{"id": "g-1", "body": {"text": "x"}, "answer": {"verdict": "reject"}}]';
  await confirm(page, 'Add gold', 'Add gold', { 'Tickets (JSON)': tickets });
  expect((await api.get('/v1/queues/listed/gold')).body.items).toMatchObject([{ id: 'g-1' }]);
});

test('B.5 added gold joins what the queue has, and replaces only what has the same id', async () => {
  const gold = (id: string, text: string) => ({ id, body: { text }, answer: { verdict: 'reject' } });
  const present = numbered(502, 'old').map((id) => ({ ...gold(id, 'old'), requires: ['de'], priority: 3 }));
  await api.put('/v1/queues/gilded', {});
  insist(await api.put('/v1/queues/gilded/gold', { tickets: present }), 'gold', 200);
  const page = await browser.open(`${api.url}/settings/queues/gilded`);
  await press(page, 'Add gold');
  const dialog = page.getByRole('dialog');
  await sees(dialog, 'The queue has 502 now; they stay');
  // the API rejects what is no list, and keeps all of them
  await submit(dialog, { 'Tickets (JSON)': '{"id": "no list"}' }, 'Add gold');
  await dialog.getByRole('alert').waitFor();
  const tickets = JSON.stringify([gold('new', 'new'), gold('old7', 'changed')]);
  await submit(dialog, { 'Tickets (JSON)': tickets }, 'Add gold');
  await dialog.waitFor({ state: 'hidden' });
  const { items, nextCursor } = (await api.get('/v1/queues/gilded/gold?limit=500')).body;
  const rest = (await api.get(`/v1/queues/gilded/gold?limit=500&cursor=${nextCursor}`)).body.items;
  const kept = present.map((one) => (one.id === 'old7' ? gold('old7', 'changed') : one));
  expect([...items, ...rest]).toMatchObject([...kept, gold('new', 'new')]);
});

test('S4.9 in Chinese what the API says of a value is said in Chinese at its field', async () => {
  await api.put('/v1/queues/zh', {});
  const page = await browser.open(`${api.url}/settings/queues/zh`, { language: 'zh' });
  await page.locator('[data-path=leaseSeconds]').fill('0');
  await page.locator('[data-path=categoryFrom]').fill('kind');
  await press(page, '保存设置');
  await sees(page.locator('.field .error'), '不能小于 0.001', '必须是 JSON 指针');
});
