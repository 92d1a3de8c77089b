import { expect, test } from 'vitest';
import { addCase, claimed, court, jurors, vote } from '../support/cases.ts';
import { claimOne, eventually } from '../support/client.ts';
import { job } from '../support/jobs.ts';
import { published } from '../support/published.ts';
import { SECRET, startReceiver } from '../support/receiver.ts';
import { put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, complete, handed } from '../support/tasks.ts';
import { add, decide } from '../support/tickets.ts';

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
  const held = await claimOne(api, 'q', 'anna');
  await decide(api, held, body);
  await add(api, 'q', { id: 'invalid', body, callback });
  await api.post('/v1/tickets/invalid/invalidate', { reason: CONTENT });

  await job(api, 'add', { topic: 't', id: 'a-job', TTR: 60, body: CONTENT });
  await job(api, 'finish', { id: 'a-job', token: (await job(api, 'pop', { topic: 't' })).token });
  expect((await api.put('/v1/topics/t/schedules/often', { everySeconds: 1, body, TTR: 60 })).status).toBeLessThan(300);

  await put(api, 'a-review', { text: { status: 1 }, pictures: [{ id: 'pic', status: 1 }], body, callback });
  await tell(api, 'a-review', { kind: 'text', status: 2 });

  await court(api, 'c', { votesToWin: 1, callback });
  await jurors(api, 'c', ['juno']);
  await addCase(api, 'c', { id: 'a-case', body });
  await vote(api, 'a-case', (await claimed(api, 'c', 'juno')).token, 'buyer', { comment: CONTENT });

  await addTemplate(api, 'plain', { text: { type: 'string' } });
  await addTask(api, { id: 'a-task', executor: 'uid_ulla', params: body, callback });
  await complete(api, 'ulla', (await handed(api, 'ulla', { waitSeconds: 20 })).logId, body);

  await eventually(async () => received.length >= CALLS, 60_000);
  await eventually(async () => (await api.get('/v1/topics/t/stats')).body.ready > 0, 45_000);
  await published(running);
  const ids = ['ticket/a-ticket', 'job/a-job', 'review/a-review', 'case/a-case', 'task/a-task', 'periodic/'];
  const all = await eventually(async () => {
    const texts = await kept();
    return ids.every((id) => texts.includes(id)) && texts;
  });
  expect(all).toContain('anna');
  for (const secret of [CONTENT, SECRET, held.lease.token, callback.url]) expect(all).not.toContain(secret);
  // the same texts are found where they are
  expect(received.map((r) => r.body).join('\n')).toContain(CONTENT);
}, 120_000);
