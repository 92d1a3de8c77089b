import { expect, test } from 'vitest';
import { addCase, claimed, court, jurors, vote } from '../support/cases.ts';
import { claimOne, eventually } from '../support/client.ts';
import { published } from '../support/published.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, complete, handed } from '../support/tasks.ts';
import { add } from '../support/tickets.ts';

const { api, running } = await startTestSystem();

/** Stands in every content that callers send. */
const CONTENT = 'confidential-7f3a';
const body = { text: CONTENT };
const CALLS = 5;

/** All texts in a message of Temporal's API, its payloads read as they are stored. */
function textsIn(value: unknown, into: string[] = []): string[] {
  if (value instanceof Uint8Array) into.push(Buffer.from(value).toString('utf8'));
  else if (typeof value === 'string') into.push(value);
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) textsIn(inner, into);
  return into;
}

/** What Temporal keeps of all workflows: histories, and what is shown beside them. */
async function kept(): Promise<string> {
  const { workflow } = running.runtime.client;
  const texts: string[] = [];
  for await (const { raw, workflowId, runId } of workflow.list()) {
    textsIn(raw, texts);
    textsIn(await workflow.getHandle(workflowId, runId).fetchHistory(), texts);
  }
  return texts.join('\n');
}

test('S0.9 Temporal keeps ids, names and states, and nothing of what callers send in items', async () => {
  const { callback, received } = await startReceiver();
  await add(api, 'q', { id: 'a-ticket', body, callback });
  await api.post('/v1/tickets/a-ticket/notes', { text: CONTENT, reviewer: 'anna' });
  const { token } = (await claimOne(api, 'q', 'anna')).lease;
  await api.post('/v1/tickets/a-ticket/decide', { token, decision: body });
  await add(api, 'q', { id: 'invalid', body, callback });
  await api.post('/v1/tickets/invalid/invalidate', { reason: CONTENT });

  const job = (command: string, more: object) => api.post('/v1/jobs', { command, ...more });
  await job('add', { topic: 't', id: 'a-job', delay: 0, TTR: 60, body: CONTENT });
  await job('finish', { id: 'a-job', token: (await job('pop', { topic: 't' })).body.token });
  const schedule = { everySeconds: 1, body, TTR: 60 };
  expect((await api.put('/v1/topics/t/schedules/often', schedule)).status).toBeLessThan(300);

  const review = { text: { status: 1 }, pictures: [{ id: 'pic', status: 1 }], body, callback };
  expect((await api.put('/v1/reviews/a-review', review)).status).toBeLessThan(300);
  await api.post('/v1/reviews/a-review/callbacks', { kind: 'text', status: 2, waitSeconds: 20 });

  await court(api, 'c', { votesToWin: 1, callback });
  await jurors(api, 'c', ['juno']);
  await addCase(api, 'c', { id: 'a-case', body });
  await vote(api, 'a-case', (await claimed(api, 'c', 'juno')).token, 'buyer', { comment: CONTENT });

  await addTemplate(api, 'plain', { text: { type: 'string' } });
  await addTask(api, { id: 'a-task', executor: 'uid_ulla', params: body, callback });
  await complete(api, 'ulla', (await handed(api, 'ulla', { waitSeconds: 20 })).logId, body);

  await eventually(async () => received.length >= CALLS);
  await eventually(async () => (await api.get('/v1/topics/t/stats')).body.ready > 0);
  await published(running);
  const all = await eventually(async () => {
    const texts = await kept();
    return ['ticket/a-ticket', 'job/a-job', 'review/a-review', 'case/a-case', 'task/a-task', 'periodic/'].every((id) =>
      texts.includes(id),
    )
      ? texts
      : '';
  });
  expect(all).toContain('anna');
  expect(all).not.toContain(CONTENT);
  expect(all).not.toContain(SECRET);
  expect(all).not.toContain(token);
  expect(all).not.toContain(callback.url);
  // the same texts are found where they are
  expect(received.map((r) => r.body).join('\n')).toContain(CONTENT);
}, 120_000);
