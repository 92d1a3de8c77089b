import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { addCase, claimed, court, jurors, voted } from '../support/cases.ts';
import { claimOne, eventTypes, eventually, numbered, repeat } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, events, ticket } from '../support/tickets.ts';

const system = await startTestSystem();
const { api } = system;

const open = (page: Page, path: string) => page.goto(`${api.url}${path}`);
const at = (kind: string, id: string) => `${api.url}/items/${kind}/${encodeURIComponent(id)}`;

/** Presses a button of the page and the same one of the dialog that asks, once its fields are filled. */
async function act(page: Page, label: string, title: string, fields: Record<string, string> = {}): Promise<void> {
  await page.getByRole('button', { name: label, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: title });
  for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value);
  await dialog.getByRole('button', { name: label, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The value beside a name in the panel of facts. */
const fact = (page: Page, name: string) =>
  page
    .getByRole('term')
    .filter({ hasText: new RegExp(`^${name}$`) })
    .locator('+ dd');

describe('the page of an item', () => {
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
    await page.getByText('7', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Invalidate' }).count()).toBe(0);
  });

  test('S0.2 S0.4 an operator reprioritizes, releases and invalidates; the API sees each, with its reason', async () => {
    await add(api, 'acts', { id: 'acts-1' });
    const page = await browser.open(at('ticket', 'acts-1'));
    await act(page, 'Reprioritize', 'Change the priority', { 'New priority': '9' });
    expect((await ticket(api, 'acts-1')).priority).toBe(9);
    await fact(page, 'Priority').getByText('9').waitFor();
    await claimOne(api, 'acts', 'anna');
    await act(page, 'Release', 'Take it from its holder', { Reason: 'went home' });
    expect((await ticket(api, 'acts-1')).state).toBe('waiting');
    expect((await events(api, 'acts-1')).at(-1)).toMatchObject({ type: 'released', data: { reason: 'went home' } });
    await act(page, 'Invalidate', 'Invalidate this ticket', { Reason: 'twice there' });
    expect(await ticket(api, 'acts-1')).toMatchObject({
      state: 'invalidated',
      invalidation: { reason: 'twice there', by: 'anonymous' },
    });
    await fact(page, 'State').first().getByText('Invalidated').waitFor();
  });

  test('S0.4 without a reason nothing is invalidated, and the dialog says what is wrong and stays', async () => {
    await add(api, 'acts', { id: 'acts-2' });
    const page = await browser.open(at('ticket', 'acts-2'));
    await page.getByRole('button', { name: 'Invalidate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invalidate this ticket' });
    await dialog.getByText('No one is offered it any more').waitFor();
    await dialog.getByRole('button', { name: 'Invalidate' }).click();
    await dialog.getByRole('alert').getByText('reason').waitFor();
    expect((await ticket(api, 'acts-2')).state).toBe('waiting');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  test('S0.4 transfer and resolve: another queue, a decision with its reason', async () => {
    await add(api, 'acts', { id: 'acts-3' });
    const page = await browser.open(at('ticket', 'acts-3'));
    await act(page, 'Transfer', 'Move it to another queue', { 'To the queue': 'second' });
    expect((await ticket(api, 'acts-3')).queue).toBe('second');
    await fact(page, 'Queue').getByText('second').waitFor();
    await act(page, 'Resolve', 'Decide it from outside', { Decision: '{"status": 3}', Reason: 'court order' });
    expect(await ticket(api, 'acts-3')).toMatchObject({ decision: { status: 3 }, reason: 'court order' });
  });

  test('S3 a job with any letters in its id: kicked, finished, and another one deleted', async () => {
    const id = 'order/2024#1 ü';
    await api.post('/v1/jobs', { command: 'add', topic: 'shop/close', id, delay: 3_600, body: 'a\nb' });
    await api.post('/v1/jobs', { command: 'add', topic: 'shop/close', id: 'job-2', body: 1 });
    const page = await browser.open(at('job', id));
    const path = `/v1/jobs/${encodeURIComponent(id)}`;
    await act(page, 'Kick', 'Make this job ready now');
    expect((await api.get(path)).body.state).toBe('ready');
    await act(page, 'Finish', 'Finish this job');
    expect((await api.get(path)).body.state).toBe('finished');
    await fact(page, 'State').first().getByText('Finished').waitFor();
    await open(page, '/items/job/job-2');
    await act(page, 'Delete', 'Delete this job');
    expect((await api.get('/v1/jobs/job-2')).body.state).toBe('deleted');
  });

  test('S3 a job that is buried from its page is given to no one until it is kicked there', async () => {
    await api.post('/v1/jobs', { command: 'add', topic: 'aside', id: 'aside-1', body: 1, TTR: 600 });
    const [{ token }] = (await api.post('/v1/jobs', { command: 'pop', topic: 'aside', count: 1 })).body.jobs;
    const page = await browser.open(at('job', 'aside-1'));
    await fact(page, 'State').first().getByText('Reserved').waitFor();
    await act(page, 'Bury', 'Put this job aside', { Reason: 'poisonous' });
    await fact(page, 'State').first().getByText('Buried').waitFor();
    await page.getByText('poisonous').first().waitFor();
    expect(await page.getByRole('button', { name: 'Bury' }).count()).toBe(0);
    expect((await api.post('/v1/jobs', { command: 'finish', id: 'aside-1', token })).body.success).toBe(false);
    expect((await api.post('/v1/jobs', { command: 'pop', topic: 'aside' })).body.id).toBeNull();
    await act(page, 'Kick', 'Make this job ready now');
    expect((await api.post('/v1/jobs', { command: 'pop', topic: 'aside' })).body.id).toBe('aside-1');
  });

  test('S2 a case: votes as they come, and invalidated with its reason', async () => {
    await court(api, 'panel', { votesToWin: 3 });
    await jurors(api, 'panel', numbered(3));
    await addCase(api, 'panel', { id: 'case-1', body: { text: 'who?' } });
    const page = await browser.open(at('case', 'case-1'));
    await page.getByText('No vote yet.').waitFor();
    const { id, token } = await claimed(api, 'panel', 'j0');
    await voted(api, id, token, 'buyer');
    await page.getByRole('rowheader', { name: 'j0' }).waitFor();
    await act(page, 'Invalidate', 'Invalidate this case', { Reason: 'settled between them' });
    expect((await api.get('/v1/cases/case-1')).body).toMatchObject({
      state: 'invalidated',
      endReason: 'settled between them',
    });
  });

  test('S4.9 a task and its occurrence: who was given it, and deleted', async () => {
    await api.post('/v1/templates', { id: 'rate', name: 'Rate', params: { site: { type: 'string' } } });
    const startTime = new Date(Date.now() - 60_000).toISOString();
    const task = { type: 'once', executor: 'uid_eva', startTime, templateId: 'rate', params: { site: 'example' } };
    await api.post('/v1/tasks', { id: 'task-1', ...task });
    const page = await browser.open(at('task', 'task-1'));
    await page.getByText('Nothing has been dispatched yet.').waitFor();
    const { body } = await eventually(async () => {
      const answer = await api.post('/v1/clients/eva/next', {});
      return answer.body.task && answer;
    });
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'eva' }) });
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /^Occurrence task-1/ }).waitFor();
    await fact(page, 'With clients now').getByText('1').waitFor();
    await api.post('/v1/clients/eva/complete', { logId: body.logId, result: 'R' });
    await fact(page, 'Completed').getByText('1').waitFor();
    await page.getByRole('link', { name: 'task-1' }).click();
    await act(page, 'Delete', 'Delete this task');
    expect((await api.get('/v1/tasks/task-1')).body.state).toBe('deleted');
  });

  test('why has no one got this: others first, skills, held, paused; and whether one person is offered it', async () => {
    await add(api, 'why', { id: 'why-0', priority: 5 });
    await add(api, 'why', { id: 'why-1', requires: ['french'], exclude: ['carl'] });
    const page = await browser.open(at('ticket', 'why-1'));
    await page.getByText('1 ticket goes before it.').waitFor();
    await page.getByText('Only someone with these skills is offered it: french.').waitFor();
    await page.getByText('No one has claimed anything from why').waitFor();
    const person = page.getByLabel('Is it offered to this person?');
    await person.fill('carl');
    await page.keyboard.press('Enter');
    await page.getByText('They are excluded from it.').waitFor();
    await page.getByText('They lack a skill that it requires.').waitFor();
    await person.fill('dora');
    await page.getByLabel('With these skills').fill('french, spanish');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('Yes: dora is offered it after 1 other that goes before it.').waitFor();
    await claimOne(api, 'why', 'dora', { skills: ['french'] });
    await claimOne(api, 'why', 'erik', { skills: ['french'] });
    await page.getByText('erik holds it until').waitFor();
    await api.post('/v1/queues/why/pause');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.locator('form').getByText('Its queue is paused: nothing is handed out.').waitFor();
  });

  test('S0.10 a delivery that failed says why; once the receiver is back it is sent again from the page', async () => {
    let isBack = false;
    const receiver = await startReceiver(() => (isBack ? 204 : 410));
    await configure(api, 'hooks', { callback: receiver.callback });
    await add(api, 'hooks', { id: 'hook-1' });
    const page = await browser.open(at('ticket', 'hook-1'));
    await decide(api, await claimOne(api, 'hooks', 'anna'));
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'ticket.decided' }) });
    await row.getByText('Failed').waitFor({ timeout: 20_000 });
    expect(await row.textContent()).toContain('HTTP 410');
    isBack = true;
    await act(page, 'Redeliver', 'Send it again');
    await row.getByText('Delivered').waitFor({ timeout: 20_000 });
    expect(receiver.received.length).toBe(2);
    const [first, second] = receiver.received.map((r) => r.headers['webhook-id']);
    expect(second).toBe(first);
  });

  test("S0.5 the workflow's own state, and where Temporal shows it", async () => {
    await add(api, 'flow', { id: 'flow-1' });
    await claimOne(api, 'flow', 'anna');
    const page = await browser.open(at('ticket', 'flow-1'));
    const link = page.getByRole('link', { name: /Show in Temporal/ });
    await link.waitFor({ timeout: 20_000 });
    expect(await link.getAttribute('href')).toContain(`/namespaces/${system.namespace}/workflows/ticket%2Fflow-1/`);
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
    await page.getByRole('button', { name: 'Show all 150,000 characters' }).click();
    await page.getByRole('button', { name: 'Show all 150,000 characters' }).waitFor({ state: 'hidden' });
  });

  test('S4.9 in Chinese, and of something that does not exist', async () => {
    await add(api, 'zh', { id: 'zh-1' });
    const page = await browser.open(at('ticket', 'zh-1'), { language: 'zh' });
    await page.getByRole('heading', { level: 1, name: '工单 zh-1' }).waitFor();
    await page.getByRole('button', { name: '作废' }).click();
    await page.getByRole('dialog', { name: '作废此工单' }).getByLabel('原因').waitFor();
    await open(page, '/items/ticket/nowhere');
    await page.getByRole('alert').getByText('对象不存在或已被删除。').first().waitFor();
    await open(page, '/items/cabbage/1');
    await page.getByRole('heading', { level: 1, name: '没有这个页面' }).waitFor();
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('axe finds nothing serious, %s at %i px, and nothing is wider than the window', async (theme, width) => {
    await add(api, 'axe', { id: `axe-${theme}`, body: { a: [1, { b: 'two' }] } });
    await claimOne(api, 'axe', theme);
    const page = await browser.open(at('ticket', `axe-${theme}`), { theme, viewport: { width, height: 800 } });
    await fact(page, 'Held by').getByText(theme).waitFor();
    await page.getByText('Claimed').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Invalidate' }).click();
    await page.getByRole('dialog').getByLabel('Reason').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});
