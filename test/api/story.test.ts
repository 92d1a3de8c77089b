import { expect, test } from 'vitest';
import { EXAMPLES } from '../../api/document/examples.ts';
import { endpoints } from '../../api/endpoints.ts';
import { createKey } from '../support/keys.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { expectSameFields, Story } from './story.ts';
import { STORY } from './story-steps.ts';

// After a change of an answer or an example: `npm run examples`, then `npm run openapi`.
const RECORDED = '../../api/document/answers.json';

const nameOf = ({ operation, body }: { operation: string; body?: string }) =>
  [operation, body].filter(Boolean).join(' ');

test('the story has every operation, and every example of a body', () => {
  const played = new Set(STORY.map(nameOf));
  const shown = endpoints.flatMap(({ operation }) => {
    const { bodies } = EXAMPLES[operation] ?? {};
    return bodies ? Object.keys(bodies).map((body) => nameOf({ operation, body })) : [operation];
  });
  expect([...played].sort()).toEqual([...new Set(shown)].sort());
  expect(Object.keys(EXAMPLES).sort()).toEqual(endpoints.map((e) => e.operation).sort());
});

test("the document's examples are a story whose calls succeed, and its answers are those of a server", async () => {
  const { api, running } = await startTestSystem({ DOCKET_AUTH: 'keys' });
  const { id, key } = await createKey(running.runtime.db, { name: 'platform', role: 'admin', subject: null });
  const receiver = new URL((await startReceiver()).url).origin;
  const client = api.as(key);
  const story = new Story(client, (await api.get('/openapi.json')).body, Date.now());
  for (const step of STORY) {
    await step.before?.(client, story.made, true);
    const reply = await story.send(story.real(story.prefilled(step), receiver), step, true);
    expect(reply.status, `${nameOf(step)}: ${JSON.stringify(reply.body)}`).toBeLessThan(300);
    story.learn(step, reply);
    const shown = EXAMPLES[step.operation]?.answers?.[String(reply.status)];
    if (shown === undefined) story.record(step, reply);
    else expectSameFields(shown, step.operation === 'readFeed' ? firstLine(reply.body) : reply.body, nameOf(step));
  }
  const text = JSON.stringify(story.shown(receiver), null, 2).replaceAll(id, '4b7d20c9e1f3');
  await expect(`${text}\n`).toMatchFileSnapshot(RECORDED);
}, 180_000);

test('every operation can be executed as the documentation has it filled in, but for names that the server makes up', async () => {
  const { api } = await startTestSystem();
  const story = new Story(api, (await api.get('/openapi.json')).body, Date.now());
  for (const step of STORY) {
    await step.before?.(api, story.made, false);
    const call = story.prefilled(step);
    const { refused } = step;
    const reply = await story.send(call, step, false);
    const what = `${nameOf(step)}: ${reply.status} ${JSON.stringify(reply.body)}`;
    if (refused) expect(reply, what).toMatchObject({ status: refused.status, body: { code: refused.code } });
    else expect(reply.status, what).toBeLessThan(300);
    if (!story.namesMade(call) || step.needsKeys) {
      if (!refused) story.learn(step, reply);
      continue;
    }
    // the story goes on with the real names
    const real = await story.send(story.withMade(call), step, false);
    expect(real.status, `${nameOf(step)}: ${JSON.stringify(real.body)}`).toBeLessThan(300);
    story.learn(step, real);
  }
}, 180_000);

const firstLine = (text: string) => JSON.parse(text.split('\n')[0] ?? '');
