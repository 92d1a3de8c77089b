import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFindings, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;
await eventually(async () => (await api.get('/')).status === 200, 60_000);
const queue = async (name: string) => (await api.get(`/v1/queues/${name}`)).body;

const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
};

describe('settings', () => {
  const browser = useBrowser();

  test('S0.2 what is changed of a queue is seen by the API, and everything else stays as it was', async () => {
    const form = { type: 'object', required: ['verdict'], properties: { verdict: { enum: ['ok', 'bad'] } } };
    const rules = [{ name: 'vip', when: { required: ['body'] }, add: 5, requires: ['de'] }];
    const callback = { url: 'http://127.0.0.1:9/x', secret: `whsec_${'QUJD'.repeat(8)}` };
    await api.put('/v1/queues/kept', { leaseSeconds: 42.5, form, rules, callback, maxHeld: 3 });
    const before = await queue('kept');
    const page = await browser.open(`${api.url}/settings`);
    await page.getByRole('link', { name: 'kept' }).click();
    await page.getByRole('textbox', { name: 'Lease (seconds)' }).fill('60');
    await page.getByRole('checkbox', { name: 'On: Ageing' }).check();
    await page.getByRole('textbox', { name: 'Wait for one level (seconds)' }).fill('90');
    await page.getByText('= 1 min 30 s').waitFor();
    await page.getByRole('button', { name: 'Add a step' }).click();
    const step = page.getByRole('group', { name: 'Step 1' });
    await step.getByRole('textbox', { name: 'After (seconds)' }).fill('30');
    await step.getByRole('textbox', { name: 'Priority' }).fill('500');
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
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Someone else has changed the same setting').waitFor();
    expect(await queue('shared')).toMatchObject({ leaseSeconds: 250 });
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await eventually(async () => (await lease.inputValue()) === '250');
  });

  test('S0.2 a rule that is no JSON Schema, and a number that is none, are shown at their fields; nothing is saved', async () => {
    await api.put('/v1/queues/wrong', {});
    const page = await browser.open(`${api.url}/settings/queues/wrong`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const when = page.getByRole('textbox', { name: 'When (JSON Schema)' });
    await when.fill('{"type": "no such type"}');
    await page.getByRole('textbox', { name: 'Add to the priority' }).fill('5');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await eventually(async () => (await when.getAttribute('aria-invalid')) === 'true');
    await page.getByRole('group', { name: 'Rule 1' }).getByText('is not a JSON Schema that can be used').waitFor();
    expect(await when.evaluate((input) => input.matches(':focus'))).toBe(true);
    await page.getByRole('textbox', { name: 'Lease (seconds)' }).fill('soon');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('must be a number').first().waitFor();
    expect(await queue('wrong')).toMatchObject({ leaseSeconds: 300, rules: [] });
  });

  test('S0.2 a dry run says which tickets a rule would move, and moves none', async () => {
    await api.put('/v1/queues/dry', {});
    await api.post('/v1/queues/dry/tickets', { id: 'dry-1', body: { vip: true } });
    await api.post('/v1/queues/dry/tickets', { id: 'dry-2', body: { vip: false } });
    const page = await browser.open(`${api.url}/settings/queues/dry`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const when = { properties: { body: { properties: { vip: { const: true } } } } };
    await page.getByRole('textbox', { name: 'When (JSON Schema)' }).fill(JSON.stringify(when));
    await page.getByRole('textbox', { name: 'Set the priority' }).fill('700');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Tickets that would change their priority: 1').waitFor();
    await page.getByRole('row', { name: 'dry-1 0 700' }).waitFor();
    expect((await api.get('/v1/tickets/dry-1')).body.priority).toBe(0);
    await save(page);
    await eventually(async () => (await api.get('/v1/tickets/dry-1')).body.priority === 700);
  });

  test('S0.4 a queue that is paused by its page hands nothing out until it is resumed; the same of a topic', async () => {
    await api.post('/v1/queues/halted/tickets', { id: 'halted-1', body: 1 });
    const page = await browser.open(`${api.url}/settings/queues/halted`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('halted is paused: nothing is handed out.').waitFor();
    const claim = () => api.post('/v1/queues/halted/claim', { reviewer: 'anna' });
    expect((await claim()).body).toMatchObject({ tickets: [], reasons: { paused: 1 } });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('halted hands out again.').waitFor();
    expect((await claim()).body.tickets).toHaveLength(1);

    await api.put('/v1/topics/a%2Fb%20c', { maxAttempts: 4 });
    await api.post('/v1/jobs', { command: 'add', topic: 'a/b c', id: 'j1', delay: 0, TTR: 60, body: 1 });
    await page.goto(`${api.url}/settings`);
    await page.getByRole('link', { name: 'a/b c', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('a/b c is paused').waitFor();
    expect((await api.post('/v1/jobs', { command: 'pop', topic: 'a/b c' })).body.id).toBeNull();
    expect((await api.get('/v1/topics/a%2Fb%20c')).body).toMatchObject({ paused: true, maxAttempts: 4 });
  });

  test('S2.8 a court is made by its form, changed with a dry run that names the case it would decide', async () => {
    const page = await browser.open(`${api.url}/settings`);
    await page.getByRole('button', { name: 'New court' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('disputes');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('It does not exist yet.').waitFor();
    await page.getByRole('textbox', { name: 'Votes to win' }).fill('3');
    await page.getByRole('textbox', { name: 'Options' }).fill('guilty\nnot guilty');
    await page.getByRole('combobox', { name: 'At the deadline' }).selectOption('On to a review queue');
    await page.getByRole('textbox', { name: 'On to a review queue' }).fill('appeals');
    await save(page);
    const { body } = await api.get('/v1/courts/disputes');
    expect(body).toMatchObject({ votesToWin: 3, options: ['guilty', 'not guilty'], fallback: { queue: 'appeals' } });
    await api.put('/v1/courts/disputes/jurors', { jurors: [{ id: 'j1' }] });
    await api.post('/v1/courts/disputes/cases', { id: 'c1', parties: [], body: 1 });
    const { lease } = (await api.post('/v1/courts/disputes/claim', { juror: 'j1' })).body;
    await api.post('/v1/cases/c1/votes', { token: lease.token, option: 'guilty' });
    await page.getByRole('textbox', { name: 'Votes to win' }).fill('1');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Open cases that would be decided at once: 1').waitFor();
    await page.getByText('c1', { exact: true }).waitFor();
    expect((await api.get('/v1/cases/c1')).body.state).toBe('open');
  });

  test('a queue is deleted by its page, unless it has tickets', async () => {
    await api.put('/v1/queues/empty', {});
    await api.post('/v1/queues/full/tickets', { body: 1 });
    const page = await browser.open(`${api.url}/settings/queues/full`);
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByText('queue full has tickets').waitFor();
    await page.goto(`${api.url}/settings/queues/empty`);
    await remove();
    await page.getByText('empty is deleted.').waitFor();
    expect((await api.get('/v1/queues/empty')).status).toBe(404);
    expect((await api.get('/v1/queues/full')).status).toBe(200);
  });

  test('the keyboard alone changes a setting', async () => {
    await api.put('/v1/queues/keys', {});
    const page = await browser.open(`${api.url}/settings/queues/keys`);
    await page.getByRole('textbox', { name: 'Lease (seconds)' }).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('77');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    expect((await queue('keys')).leaseSeconds).toBe(77);
  });

  test.each([
    ['light', 'en', 1280],
    ['dark', 'zh', 390],
  ] as const)('axe finds nothing serious, %s, %s, %d px, and nothing is cut off', async (theme, language, width) => {
    const escalations = [{ afterSeconds: 30, priority: 500 }];
    const [ageing, rules] = [{ secondsPerLevel: 60 }, [{ when: {}, add: 1 }]];
    const callback = { url: 'http://127.0.0.1:9/x', secret: `whsec_${'QUJD'.repeat(8)}` };
    await api.put('/v1/queues/shown', { escalations, ageing, rules, callback });
    await api.put('/v1/courts/shown', { assign: { jurors: 3, answerSeconds: 60 }, mode: 'both' });
    await api.put('/v1/topics/shown', { push: { ...callback, concurrency: 2 } });
    for (const path of ['', '/queues/shown', '/courts/shown', '/topics/shown']) {
      const viewport = { width, height: 800 };
      const page = await browser.open(`${api.url}/settings${path}`, { theme, language, viewport });
      await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
      expect(await seriousFindings(page), path).toEqual([]);
      const tooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(tooWide), `${path} scrolls sideways`).toBe(false);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
        path === '' ? (language === 'zh' ? '设置' : 'Settings') : 'shown',
      );
    }
  });
});
