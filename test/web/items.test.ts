import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, jurors, oneCase, voted } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, numbered, repeat } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../support/tasks.ts';
import { add, configure, decide, events, ticket } from '../support/tickets.ts';
import { confirm, keys, press, sees, submit, tableRows } from './page.ts';

const { api, namespace } = await startTestSystem();

const at = (kind: string, id: string) => `${api.url}/items/${kind}/${encodeURIComponent(id)}`;

/** The value beside a name in the panel of facts. */
const fact = (page: Page, name: string) =>
  page
    .getByRole('term')
    .filter({ hasText: new RegExp(`^${name}$`) })
    .locator('+ dd');

const browser = useBrowser();

test('S0.5 what happens to a ticket elsewhere shows by itself: state, lease, history', async () => {
  await add(api, 'live', { id: 'live-1', body: { text: 'hello' } });
  const page = await browser.open(at('ticket', 'live-1'));
  await fact(page, 'State').first().getByText('Waiting').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  const held = await claimOne(api, 'live', 'anna');
  await fact(page, 'Held by').getByText('anna').waitFor();
  await decide(api, held, { status: 7 });
  await fact(page, 'Decided by').getByText('anna').waitFor();
  const types = async () => (await page.getByRole('listitem').getByRole('strong').allTextContents()).join();
  await eventually(async () => (await types()) === 'Created,Claimed,Decided');
  await sees(page, 'Lease no. 1');
  await page.getByText('7', { exact: true }).first().waitFor();
  expect(await page.getByRole('button', { name: 'Invalidate' }).count()).toBe(0);
});

test('S0.2 S0.4 an operator reprioritizes, releases and invalidates; the API sees each, with its reason', async () => {
  await add(api, 'acts', { id: 'acts-1' });
  const page = await browser.open(at('ticket', 'acts-1'));
  await confirm(page, 'Reprioritize', 'Change the priority', { 'New priority': '9' });
  expect((await ticket(api, 'acts-1')).priority).toBe(9);
  await fact(page, 'Priority').getByText('9').waitFor();
  const held = await claimOne(api, 'acts', 'anna');
  await confirm(page, 'Release', 'Take it from its holder', { 'Reason (may be left out)': 'went home' });
  expect((await ticket(api, 'acts-1')).state).toBe('waiting');
  expect((await events(api, 'acts-1')).at(-1)).toMatchObject({ type: 'released', data: { reason: 'went home' } });
  await decide(api, held);
  await sees(page, 'A late or impossible attempt was refused');
  await confirm(page, 'Invalidate', 'Invalidate this ticket', { Reason: 'twice there' });
  const invalidation = { reason: 'twice there', by: 'anonymous' };
  expect(await ticket(api, 'acts-1')).toMatchObject({ state: 'invalidated', invalidation });
  await fact(page, 'State').first().getByText('Invalidated').waitFor();
});

test('S0.8 a delayed ticket is kept for one person from when it is available', async () => {
  await add(api, 'later', { id: 'later-1', delaySeconds: 3_600 });
  const page = await browser.open(at('ticket', 'later-1'));
  const fields = { Person: 'olga', 'For how long (seconds)': '600' };
  await confirm(page, 'Keep for …', 'Keep it for one person', fields);
  expect(await ticket(api, 'later-1')).toMatchObject({ state: 'delayed', for: 'olga' });
});

test('S4.9 a ticket says its category, whom it is kept for, and its subject, which leads to the others of it', async () => {
  const more = { category: 'violence', subject: 'user/7&8', for: 'olga', forSeconds: 600 };
  await add(api, 'known', { id: 'known-1', ...more });
  await add(api, 'known', { id: 'known-2', subject: more.subject });
  await add(api, 'known', { id: 'known-3' });
  const page = await browser.open(at('ticket', 'known-1'));
  await fact(page, 'Category').getByText('violence').waitFor();
  await fact(page, 'Kept for').getByText('olga').waitFor();
  await sees(fact(page, 'Kept until'), '(in 9 min');
  await fact(page, 'Subject').getByRole('link', { name: more.subject }).click();
  for (const id of ['known-1', 'known-2']) await tableRows(page, id).waitFor();
  expect(await tableRows(page, 'known-3').count()).toBe(0);
  await page.goto(at('ticket', 'known-3'));
  await fact(page, 'Queue').getByText('known').waitFor();
  for (const name of ['Category', 'Subject', 'Kept for', 'Kept until']) expect(await fact(page, name).count()).toBe(0);
});

test('S0.4 without a reason nothing is invalidated, and the dialog says what is wrong and stays', async () => {
  await add(api, 'acts', { id: 'acts-2' });
  const page = await browser.open(at('ticket', 'acts-2'));
  await press(page, 'Invalidate');
  const dialog = page.getByRole('dialog', { name: 'Invalidate this ticket' });
  await sees(dialog, 'No one is offered it any more');
  await press(dialog, 'Invalidate');
  await dialog.getByRole('alert').getByText('Is required.').waitFor();
  expect((await ticket(api, 'acts-2')).state).toBe('waiting');
  await keys(page, 'Escape');
  await dialog.waitFor({ state: 'hidden' });
});

test('S0.4 transfer and resolve: another queue, a decision with its reason', async () => {
  await api.put('/v1/queues/second', {});
  await add(api, 'acts', { id: 'acts-3' });
  const page = await browser.open(at('ticket', 'acts-3'));
  await confirm(page, 'Transfer', 'Move it to another queue', { 'To the queue': 'second' });
  expect((await ticket(api, 'acts-3')).queue).toBe('second');
  await fact(page, 'Queue').getByText('second').waitFor();
  await confirm(page, 'Decide', 'Decide this ticket yourself', { Decision: '{"status": 3}', Reason: 'court order' });
  expect(await ticket(api, 'acts-3')).toMatchObject({ decision: { status: 3 }, reason: 'court order' });
});

test("S0.4 an operator decides by the queue's form, in its words", async () => {
  const verdict = { title: 'Verdict', oneOf: [{ const: 'keep', title: 'Keep it' }, { const: 'remove' }] };
  await api.put('/v1/queues/formed', { form: { type: 'object', required: ['verdict'], properties: { verdict } } });
  await add(api, 'formed', { id: 'formed-1' });
  const page = await browser.open(at('ticket', 'formed-1'));
  await press(page, 'Decide');
  const dialog = page.getByRole('dialog', { name: 'Decide this ticket yourself' });
  await submit(dialog, { Reason: 'court order' }, 'Decide');
  await sees(dialog.getByRole('group', { name: 'Verdict' }), 'Is required.');
  await dialog.getByLabel('Keep it').check();
  await press(dialog, 'Decide');
  await dialog.waitFor({ state: 'hidden' });
  expect(await ticket(api, 'formed-1')).toMatchObject({ decision: { verdict: 'keep' }, reason: 'court order' });
  await page.getByRole('region', { name: 'Decision' }).getByText('Keep it').waitFor();
});

test('S3 a job with any letters in its id: kicked, finished, and another one deleted', async () => {
  const id = 'order/2024#1 ü';
  await api.post('/v1/jobs', { command: 'add', topic: 'shop/close', id, delay: 3_600, body: 'a\nb' });
  await api.post('/v1/jobs', { command: 'add', topic: 'shop/close', id: 'job-2', body: 1 });
  const page = await browser.open(at('job', id));
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  await confirm(page, 'Kick', 'Make this job ready now');
  expect((await api.get(path)).body.state).toBe('ready');
  await confirm(page, 'Finish', 'Finish this job');
  expect((await api.get(path)).body.state).toBe('finished');
  await fact(page, 'State').first().getByText('Finished').waitFor();
  await page.goto(`${api.url}/items/job/job-2`);
  await confirm(page, 'Delete', 'Delete this job');
  expect((await api.get('/v1/jobs/job-2')).body.state).toBe('deleted');
});

test('S3 a job that is buried from its page is given to no one until it is kicked there', async () => {
  await api.post('/v1/jobs', { command: 'add', topic: 'aside', id: 'aside-1', body: 1, TTR: 600 });
  const [{ token }] = (await api.post('/v1/jobs', { command: 'pop', topic: 'aside', count: 1 })).body.jobs;
  const page = await browser.open(at('job', 'aside-1'));
  await fact(page, 'State').first().getByText('Reserved').waitFor();
  await confirm(page, 'Bury', 'Put this job aside', { Reason: 'poisonous' });
  await fact(page, 'State').first().getByText('Buried').waitFor();
  await sees(page, 'poisonous');
  expect(await page.getByRole('button', { name: 'Bury' }).count()).toBe(0);
  expect((await api.post('/v1/jobs', { command: 'finish', id: 'aside-1', token })).body.success).toBe(false);
  expect((await api.post('/v1/jobs', { command: 'pop', topic: 'aside' })).body.id).toBeNull();
  await confirm(page, 'Kick', 'Make this job ready now');
  expect((await api.post('/v1/jobs', { command: 'pop', topic: 'aside' })).body.id).toBe('aside-1');
});

test('S2 a case: votes as they come, and invalidated with its reason', async () => {
  await court(api, 'panel', { votesToWin: 3 });
  await jurors(api, 'panel', numbered(3));
  await addCase(api, 'panel', { id: 'case-1', body: { text: 'who?' } });
  const page = await browser.open(at('case', 'case-1'));
  await sees(page, 'No vote yet.');
  const { id, token } = await claimed(api, 'panel', 'j0');
  await voted(api, id, token, 'buyer');
  await page.getByRole('rowheader', { name: 'j0' }).waitFor();
  await confirm(page, 'Invalidate', 'Invalidate this case', { Reason: 'settled between them' });
  expect(await oneCase(api, 'case-1')).toMatchObject({ state: 'invalidated', endReason: 'settled between them' });
});

test('S4.9 a task leads to who was given it and to its occurrence, and that back; deleted, it is still shown', async () => {
  await addTemplate(api, 'rate', { site: { type: 'string' } });
  await addTask(api, { id: 'task-1', executor: 'uid_eva', templateId: 'rate', params: { site: 'example' } });
  const page = await browser.open(`${api.url}/search`);
  await submit(page, { Id: 'task-1' }, 'Open');
  await page.getByRole('heading', { level: 1, name: 'Task task-1' }).waitFor();
  await page.getByRole('link', { name: 'Its dispatch log' }).click();
  await sees(page, 'Nothing was dispatched.');
  const { logId } = await handed(api, 'eva');
  const line = page.getByRole('row').filter({ hasText: 'eva' });
  await line.getByRole('link').last().click();
  await page.getByRole('heading', { level: 1, name: /^Occurrence task-1/ }).waitFor();
  await fact(page, 'With clients now').getByText('1').waitFor();
  await completed(api, 'eva', logId, 'R');
  await fact(page, 'Completed').getByText('1').waitFor();
  await page.getByRole('link', { name: 'task-1' }).click();
  await confirm(page, 'Delete', 'Delete task-1?');
  expect((await api.get('/v1/tasks/task-1')).body.state).toBe('deleted');
  await page.goto(`${api.url}/tasks/edit/task-1`);
  await sees(page, 'This task is deleted.');
  expect(await page.getByLabel('For').inputValue()).toBe('uid_eva');
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
});

test('why has no one got this: others first, skills, held, paused; and whether one person is offered it', async () => {
  await add(api, 'why', { id: 'why-0', priority: 5 });
  await add(api, 'why', { id: 'why-1', requires: ['french'], exclude: ['carl'] });
  const page = await browser.open(at('ticket', 'why-1'));
  await sees(page, '1 ticket goes before it.', 'Only someone with these skills is offered it: french.');
  await sees(page, 'No one has claimed anything from why');
  const person = page.getByLabel('Is it offered to this person?');
  await person.fill('carl');
  await keys(page, 'Enter');
  await sees(page, 'Excluded from it.', 'A skill that it requires is missing.');
  await person.fill('dora');
  await submit(page, { 'With these skills': 'french, spanish' }, 'Ask');
  await sees(page, 'Yes: dora is offered it after 1 other that goes before it.');
  await claimOne(api, 'why', 'dora', { skills: ['french'] });
  await claimOne(api, 'why', 'erik', { skills: ['french'] });
  await sees(page, 'erik holds it until');
  await api.post('/v1/queues/why/pause');
  await press(page, 'Ask');
  await page.locator('form').getByText('The queue is paused.').waitFor();
});

test('S0.10 a delivery that failed says why; once the receiver is back it is sent again from the page', async () => {
  let isBack = false;
  const receiver = await startReceiver(() => (isBack ? 204 : 410));
  await configure(api, 'hooks', { callback: receiver.callback });
  await add(api, 'hooks', { id: 'hook-1' });
  const page = await browser.open(at('ticket', 'hook-1'));
  await decide(api, await claimOne(api, 'hooks', 'anna'));
  const row = tableRows(page, 'ticket.decided');
  await row.getByText('Failed').waitFor();
  expect(await row.textContent()).toContain('HTTP 410');
  isBack = true;
  await confirm(page, 'Redeliver', 'Send it again');
  await row.getByText('Delivered').waitFor();
  expect(receiver.received.length).toBe(2);
  const [first, second] = receiver.received.map((r) => r.headers['webhook-id']);
  expect(second).toBe(first);
});

test("S0.5 the workflow's own state, and where Temporal shows it", async () => {
  await add(api, 'flow', { id: 'flow-1' });
  await claimOne(api, 'flow', 'anna');
  const page = await browser.open(at('ticket', 'flow-1'));
  const link = page.getByRole('link', { name: /Show in Temporal/ });
  await link.waitFor();
  expect(await link.getAttribute('href')).toContain(`/namespaces/${namespace}/workflows/ticket%2Fflow-1/`);
  await fact(page, 'State it knows').getByText('Held').waitFor();
  expect(await eventTypes(api, 'flow-1')).toEqual(['created', 'claimed']);
});

test('a hostile body does nothing: markup, a huge text, a deep tree, letters from right to left', async () => {
  let deep: unknown = 'bottom';
  for (let n = 0; n < 60; n++) deep = { n: deep };
  const body = {
    script: '<script>document.title = "taken"</script><img src=x onerror="document.title=1">',
    svg: '<svg onload=alert(1)><a href="javascript:alert(1)">x</a></svg>',
    link: 'javascript:alert(1)',
    rtl: '\u202Egpj.exe',
    '<b>key</b>': null,
    huge: 'x'.repeat(150_000),
    many: repeat(5_000, (n) => n),
    deep,
  };
  await add(api, 'hostile', { id: 'hostile-1', body });
  const page = await browser.open(at('ticket', 'hostile-1'));
  await page.getByText('document.title = "taken"', { exact: false }).waitFor();
  expect(await page.title()).toBe('Ticket hostile-1 · Docket');
  const found = await page.evaluate(
    `({ active: document.querySelectorAll('main script, main img, main svg, main b, main a[href^=javascript]').length,
          elements: document.querySelectorAll('main *').length,
          wide: document.documentElement.scrollWidth > innerWidth })`,
  );
  expect(found).toMatchObject({ active: 0, wide: false });
  expect((found as { elements: number }).elements).toBeLessThan(1_500);
  await press(page, 'Show more (147,000 characters left)');
  await page.getByRole('button', { name: 'Show more (127,000 characters left)' }).waitFor();
});

test('S0.10 a ticket of which nothing was sent says why: it is open yet, or has no callback', async () => {
  await add(api, 'unsent', { id: 'unsent-1' });
  const { id, lease } = await claimOne(api, 'unsent', 'anna');
  await api.post(`/v1/tickets/${id}/release`, { token: lease.token, reason: 'claimed ahead, not seen' });
  const page = await browser.open(at('ticket', id), { language: 'zh' });
  await sees(page, '尚未发送：还没有最终结果。', '提前领取，未曾查看');
  await decide(api, await claimOne(api, 'unsent', 'anna'));
  await sees(page, '未发送：已有最终结果，但没有回调地址。');
});

test('S4.9 in Chinese, and of something that does not exist', async () => {
  const page = await browser.open(at('ticket', 'nowhere'), { language: 'zh' });
  await sees(page.getByRole('alert'), '对象不存在或已被删除。');
  await page.goto(at('cabbage', '1'));
  await page.getByRole('heading', { level: 1, name: '没有这个页面' }).waitFor();
});

test('S0.5 an unknown item is one message, not one for each of its parts', async () => {
  await addTemplate(api, 'plain');
  await addTask(api, { id: 'once', executor: 'uid_eva' });
  const unknown = { job: 'nobody', ticket: 'nobody', case: 'nobody', occurrence: 'once/someday' };
  for (const [kind, id] of Object.entries(unknown)) {
    const page = await browser.open(at(kind, id));
    await sees(page.getByRole('alert'), 'This does not exist, or no longer.');
    // parts that answered before the item did are taken away
    const counts = async () => [await page.getByRole('alert').count(), await page.getByRole('heading').count()];
    await eventually(async () => (await counts()).join() === '1,1');
  }
});
