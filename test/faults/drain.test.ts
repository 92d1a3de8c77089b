import { expect, test } from 'vitest';
import { claimOne, eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { published } from '../support/published.ts';
import { startTestSystem } from '../support/system.ts';

const QUICK = byNight(5_000, 1_500);
const CALLERS = 32;
// what has been over for a while is skipped, so that the test ends on a busy machine too
const limits = { publishIdlePerSecond: 200, skipEndedSeconds: 15 };
const { api, running, sql } = await startTestSystem({}, { limits });

/** Ids of the workflows that Temporal says are open. */
async function openWorkflows(): Promise<string[]> {
  const ids: string[] = [];
  const { workflow } = running.runtime.client;
  for await (const w of workflow.list({ query: `WorkflowType = 'ticket' AND ExecutionStatus = 'Running'` }))
    ids.push(w.workflowId);
  return ids.sort();
}

async function work(reviewer: string): Promise<void> {
  for (;;) {
    const { body } = await api.post('/v1/queues/drain/claim', { reviewer });
    let ticket: Json = body.tickets[0];
    while (ticket) {
      const { token } = ticket.lease;
      ticket = (await api.post(`/v1/tickets/${ticket.id}/decide`, { token, decision: 1, next: true })).body.next;
    }
    if (body.tickets.length === 0) return;
  }
}

test(`S0.9 ${QUICK} quick tickets: no workflow stays open for what is over, none is missing for what is not`, async () => {
  for (let at = 0; at < QUICK; at += 500) {
    const tickets = repeat(500, (n) => ({ id: `quick-${at + n}`, body: { n } }));
    await api.post('/v1/queues/drain/tickets/batch', { tickets });
  }
  await Promise.all(repeat(CALLERS, (n) => work(`r${n}`)));
  const { body: stats } = await api.get('/v1/queues/drain/stats');
  expect(stats).toMatchObject({ decided: QUICK, waiting: 0, held: 0 });

  for (let n = 0; n < 40; n++)
    await api.post('/v1/queues/open/tickets', { id: `open-${n}`, body: {}, delaySeconds: n % 2 ? 3600 : 0 });
  for (let n = 0; n < 10; n++) await claimOne(api, 'open', `holder-${n}`);

  await published(running, 200_000);
  const open = (await sql<{ id: string }>(`select id from item where ended_at is null`))
    .map((r) => `ticket/${r.id}`)
    .sort();
  expect(open).toHaveLength(40);
  await eventually(async () => JSON.stringify(await openWorkflows()) === JSON.stringify(open), 60_000);
}, 240_000);
