import { describe, expect, test } from 'vitest';
import type { Role } from '../../contract/keys.ts';
import { useBrowser } from '../support/browser.ts';
import { claimOne, eventually } from '../support/client.ts';
import { createKey } from '../support/keys.ts';
import { startReceiver } from '../support/receiver.ts';
import { put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide, ticket } from '../support/tickets.ts';

const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
const { db } = system.running.runtime;
const keyOf = async (role: Role, subject: string | null = null) =>
  (await createKey(db, { name: `${subject ?? role}-key`, role, subject })).key;
const admin = system.api.as(await keyOf('admin'));
const { url } = system.api;

const FORBIDDEN = 'This page is not for your role';

describe('what each role sees of items', () => {
  const browser = useBrowser();

  test.each<[Role, string[]]>([
    ['admin', ['Reprioritize', 'Release', 'Transfer', 'Resolve', 'Invalidate', 'Add note']],
    ['producer', ['Reprioritize', 'Resolve', 'Invalidate', 'Add note']],
    ['agent', ['Add note']],
  ])('S4.9 of a held ticket, a key of role %s is offered what the API lets it do: %s', async (role, expected) => {
    const id = `held-${role}`;
    await add(admin, `held-${role}`, { id });
    await claimOne(admin, `held-${role}`, 'anna');
    const page = await browser.open(`${url}/items/ticket/${id}`, { key: await keyOf(role) });
    await page.getByText('anna holds it until').waitFor();
    const offered = await page.getByRole('main').getByRole('button').allTextContents();
    expect(offered.filter((label) => label !== 'Ask')).toEqual(expected);
    if (role !== 'producer') return;
    await page.getByRole('button', { name: 'Invalidate' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('by a producer');
    await page.getByRole('dialog').getByRole('button', { name: 'Invalidate' }).click();
    await page.getByText('It has been invalidated.').waitFor();
    expect((await ticket(admin, id)).invalidation.by).toBe('producer-key');
  });

  test('S4.9 a consumer sees jobs and what they may do with them, and no ticket, review or delivery', async () => {
    await admin.post('/v1/jobs', { command: 'add', topic: 'shop', id: 'job-1', body: 1, delay: 600 });
    await add(admin, 'secret', { id: 'secret-1', body: { text: 'not for consumers' } });
    const page = await browser.open(`${url}/items/job/job-1`, { key: await keyOf('consumer') });
    await page.getByRole('button', { name: 'Kick' }).waitFor();
    for (const path of ['/items/ticket/secret-1', '/queues/ticket/secret', '/deliveries', '/reviews']) {
      await page.goto(url + path);
      await page.getByRole('heading', { name: FORBIDDEN }).waitFor();
    }
    await page.goto(`${url}/search`);
    await page.getByText('Name a topic: jobs are listed by topic.').waitFor();
    expect(await page.getByLabel('Kind', { exact: true }).count()).toBe(0);
    for (const [id, said] of [
      ['secret-1', 'There is nothing with the id secret-1.'],
      ['job-1', 'Job job-1'],
    ] as const) {
      await page.getByLabel('Id', { exact: true }).fill(id);
      await page.keyboard.press('Enter');
      await page.getByText(said).first().waitFor();
    }
    const links = await page.getByRole('navigation', { name: 'Main' }).first().getByRole('link').allTextContents();
    expect(links).toEqual(['Search', 'API documentation']);
  });

  test('S4.9 a reviewer sees none of these pages', async () => {
    await add(admin, 'secret', { id: 'secret-2' });
    const page = await browser.open(`${url}/items/ticket/secret-2`, { key: await keyOf('reviewer', 'rita') });
    for (const path of ['/items/ticket/secret-2', '/queues/ticket/secret', '/search', '/deliveries', '/reviews/any']) {
      await page.goto(url + path);
      await page.getByRole('heading', { level: 1, name: /for your role/ }).waitFor();
    }
  });

  test('S4.9 S0.10 an agent reads deliveries, lists and reviews, and changes nothing there', async () => {
    const gone = await startReceiver(() => 410);
    await configure(admin, 'gone', { callback: gone.callback });
    await add(admin, 'gone', { id: 'gone-1' });
    await decide(admin, await claimOne(admin, 'gone', 'anna'));
    await eventually(async () => {
      const { body } = await admin.get('/v1/deliveries?state=failed');
      return body.items.length === 1;
    });
    await put(admin, 'rv-1', { text: { status: 1 }, pictures: [], replies: [] });
    const page = await browser.open(`${url}/deliveries`, { key: await keyOf('agent') });
    await page.getByRole('link', { name: 'gone-1' }).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0);
    await page.getByRole('link', { name: 'gone-1' }).click();
    await page.getByText('HTTP 410').waitFor();
    expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0);
    await page.goto(`${url}/queues/ticket/gone`);
    await page.getByRole('rowheader', { name: 'gone-1' }).waitFor();
    expect(await page.getByRole('button', { name: 'Invalidate several' }).count()).toBe(0);
    await page.goto(`${url}/reviews/rv-1`);
    await page.getByText('In step').waitFor();
  });
});
