import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { drop, logOf, put } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql, running } = await startTestSystem();
const { client } = running.runtime;

test('S1.2 a review whose run makes no progress gets a new one, which applies all that has come', async () => {
  await put(api, 'stuck', { text: { status: 0 } });
  await put(api, 'works', { text: { status: 0 } });
  // no worker knows this type: its first workflow task fails again and again
  const run = await client.workflow.start('unknown', {
    workflowId: 'review/stuck',
    taskQueue: 'docket-urgent',
    args: [],
  });
  for (const n of [1, 2]) await drop(api, 'stuck', { kind: 'text', status: n });
  await eventually(async () => ((await run.describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3, 60_000);
  expect((await logOf(api, 'stuck')).length).toBe(0);
  await sql(`update review_callback set received_at = received_at - interval '1 minute'`);
  await eventually(async () => (await logOf(api, 'stuck')).length === 2, 60_000);
  expect((await api.get('/v1/reviews/stuck')).body.status).toBe(2);
  expect((await api.post('/v1/reviews/works/callbacks', { kind: 'text', status: 1, waitSeconds: 20 })).status).toBe(
    200,
  );
}, 150_000);
