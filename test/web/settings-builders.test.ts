import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, ticket } from '../support/tickets.ts';
import { fill, holdBack, keys, press, sees, submit } from './page.ts';

const { api } = await startTestSystem();
const queue = async (name: string) => (await api.get(`/v1/queues/${name}`)).body;
const group = (page: Page, name: string) => page.getByRole('group', { name, exact: true });

const browser = useBrowser();

/** Adds an option to a field of the form. */
async function option(page: Page, field: string, n: number, values: Record<string, string>): Promise<void> {
  await press(group(page, field), 'Add an option');
  await fill(group(page, field).getByRole('group', { name: `Option ${n}` }), values);
}

test('S0.8 a lead builds a form field by field; the preview and then the desk have it', async () => {
  await add(api, 'built', { id: 'built-1' });
  const page = await browser.open(`${api.url}/settings/queues/built`);
  const preview = page.getByRole('region', { name: 'Preview' });
  await sees(preview, 'Without fields the desk offers these', 'Approve');
  await press(page, 'Add a guideline');
  await fill(group(page, 'Guideline 1'), { Name: 'hate', Text: '**Never** keep it.' });
  await press(page, 'Add a field');
  await fill(group(page, 'Field 1'), { Name: 'verdict', Required: true });
  await option(page, 'Field 1', 1, { Value: 'keep', Label: 'Keep it' });
  await option(page, 'Field 1', 2, { Value: 'remove', Label: 'Remove it', Guideline: 'hate' });
  await press(page, 'Add a field');
  await fill(group(page, 'Field 2'), { Name: 'verdict', Takes: 'Text in several lines', Label: 'Why' });
  await press(page, 'Save settings');
  await sees(group(page, 'Field 2'), 'Stands there twice.');
  expect((await queue('built')).form).toBeNull();
  await fill(group(page, 'Field 2'), { Name: 'why' });
  await press(preview, 'Remove it');
  await fill(preview, { 'Why (optional)': 'a scam' });
  await sees(preview, '{"verdict":"remove","why":"a scam"}');
  await keys(page, 'Enter');
  const guideline = group(page, 'Option 1').getByLabel('Guideline');
  expect(await guideline.locator('option').allTextContents()).toEqual(['None', 'hate']);
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  const { form, guidelines } = await queue('built');
  expect(form).toEqual({
    type: 'object',
    required: ['verdict'],
    properties: {
      verdict: {
        oneOf: [
          { const: 'keep', title: 'Keep it' },
          { const: 'remove', title: 'Remove it', 'x-guideline': 'hate' },
        ],
      },
      why: { type: 'string', title: 'Why' },
    },
  });
  expect(guidelines).toEqual({ hate: '**Never** keep it.' });
  const desk = await browser.open(`${api.url}/desk/built`, { person: 'anna' });
  await sees(desk, 'Keep it', 'Guideline: Remove it');
});

test('S4.9 settings are there before the newest ticket, which is then the one to try; what was typed first stays', async () => {
  await add(api, 'late', { id: 'late-1', body: { text: 'hello' } });
  const open = async () => {
    const page = await browser.prepare(api.url);
    const letGo = await holdBack(page, '**/v1/tickets?*');
    await page.goto(`${api.url}/settings/queues/late`);
    const tried = page.getByLabel('Ticket (JSON)');
    await tried.waitFor();
    return { page, letGo, tried };
  };
  const first = await open();
  expect(await first.tried.inputValue()).toBe('');
  first.letGo();
  await eventually(async () => (await first.tried.inputValue()).includes('hello'));
  const second = await open();
  await second.tried.fill('{"priority": 7}');
  const answered = second.page.waitForResponse('**/v1/tickets?*');
  second.letGo();
  await answered;
  await press(second.page, 'Add a rule');
  expect(await second.tried.inputValue()).toBe('{"priority": 7}');
});

test('S4.9 keys alone move a field, which keeps the focus; what no field says stays, and JSON is the same value', async () => {
  const properties = { a: { type: 'boolean' }, b: { type: 'string', pattern: '^x' }, c: { $ref: '#/$defs/c' } };
  const rest = { type: 'object', additionalProperties: false, $defs: { c: { const: 1 } } };
  await api.put('/v1/queues/moved', { form: { ...rest, required: ['c'], properties } });
  const page = await browser.open(`${api.url}/settings/queues/moved`);
  await sees(page, 'JSON only, stays as it is: additionalProperties, $defs');
  await sees(group(page, 'Field 2'), 'JSON only, stays as it is: pattern');
  expect(await page.getByRole('button', { name: 'Save settings' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Move up: Field 2' }).focus();
  await keys(page, 'Enter');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  expect(await focused()).toBe('Move down: Field 1');
  await keys(page, 'Enter');
  expect(await focused()).toBe('Move down: Field 2');
  await keys(page, 'Shift+Tab', 'Enter');
  await press(group(page, 'Form of the decision'), 'Write as JSON');
  const json = page.getByRole('textbox', { name: 'Form of the decision (JSON)' });
  expect(Object.keys(JSON.parse(await json.inputValue()).properties)).toEqual(['b', 'a', 'c']);
  await json.fill((await json.inputValue()).replace('"boolean"', '"boolean", "title": "Ban"'));
  await press(page, 'Build with fields');
  expect(await group(page, 'Field 2').getByLabel('Label').inputValue()).toBe('Ban');
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  const { form } = await queue('moved');
  expect(form).toEqual({
    ...rest,
    required: ['c'],
    properties: { ...properties, a: { type: 'boolean', title: 'Ban' } },
  });
  expect(Object.keys(form.properties)).toEqual(['b', 'a', 'c']);
  await press(group(page, 'Form of the decision'), 'Write as JSON');
  await json.fill('{"anyOf": [{"required": ["a"]}]}');
  await sees(group(page, 'Form of the decision'), 'The fields cannot say this: it stays JSON.');
  await json.fill('{"anyOf": ');
  expect(await page.getByRole('button', { name: 'Build with fields' }).isDisabled()).toBe(true);
});

test('S0.2 a lead builds a rule, tries it on the newest ticket and another one, and saves it', async () => {
  await add(api, 'ruled', { id: 'ruled-1', body: { amount: 20, author: { country: 'at' } } });
  await add(api, 'ruled', { id: 'ruled-2', body: { amount: 500, author: { country: 'de' } } });
  const page = await browser.open(`${api.url}/settings/queues/ruled`);
  await press(page, 'Add a rule', 'Add a condition', 'Add a condition');
  const [first, second] = [group(page, 'Condition 1'), group(page, 'Condition 2')];
  const known = first.locator('datalist option[value="body.author.country"]');
  await eventually(async () => (await known.count()) === 1);
  await fill(first, { Field: 'body.amount', Comparison: 'is at least', Value: '100' });
  await fill(second, { Field: 'body.author.country', Comparison: 'is one of' });
  await second.getByRole('textbox', { name: 'Value' }).fill('de\nat');
  await fill(page, { 'Set the priority': '700' });
  await fill(group(page, 'Rule 1'), { Name: 'large', 'Require skills': 'money' });
  await press(page, 'Dry run');
  await sees(page, 'The ticket that was tried: priority 700, requires money; by the rules large');
  await page.getByRole('row', { name: 'ruled-2 0 700' }).first().waitFor();
  await submit(
    page,
    { 'Ticket (JSON)': '{"body": {"amount": 99, "author": {"country": "de"}}, "priority": 3}' },
    'Dry run',
  );
  await sees(page, 'The ticket that was tried: priority 3, requires –; by the rules –');
  await press(page, 'Save settings');
  await sees(page, 'Saved.');
  await eventually(async () => (await ticket(api, 'ruled-2')).priority === 700);
  expect((await ticket(api, 'ruled-1')).priority).toBe(0);
  const { rules } = await queue('ruled');
  const country = { enum: ['de', 'at'] };
  const author = { type: 'object', required: ['country'], properties: { country } };
  const amount = { type: 'number', minimum: 100 };
  const body = { type: 'object', required: ['amount', 'author'], properties: { amount, author } };
  const when = { type: 'object', required: ['body'], properties: { body } };
  expect(rules).toEqual([{ name: 'large', when, priority: 700, requires: ['money'] }]);
});
