import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { addCase, court, jurors } from '../support/cases.ts';
import { claimOne, eventually, type Json } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, configure, decide } from '../support/tickets.ts';

// without a pacemaker all that is due is done by the workflows' timers
const { api, running } = await startTestSystem({ DOCKET_PACEMAKER: 'off' });

const handle = (id: string) => running.runtime.client.workflow.getHandle(id);

/** What the UI shows beside a workflow's timers, in order. */
async function timers(id: string): Promise<unknown[]> {
  const { events = [] } = await handle(id).fetchHistory();
  const started = events?.filter((event) => event.timerStartedEventAttributes) ?? [];
  return started.map(
    ({ userMetadata }) => userMetadata?.summary && defaultPayloadConverter.fromPayload(userMetadata.summary),
  );
}

test('S0.9 each timer says what it waits for, and the result how the item ended', async () => {
  await configure(api, 'shown', { leaseSeconds: 3_600, deadlineSeconds: 7_200 });
  await add(api, 'shown', { id: 'shown', delaySeconds: 2 });
  const shown = (summary: string) => eventually(async () => (await timers('ticket/shown')).at(-1) === summary);
  await shown('its delay ends');
  await shown('a deadline or an escalation is due');
  const held = await eventually(() => claimOne(api, 'shown', 'anna'));
  await shown('the lease of anna ends, or a deadline before that');
  await decide(api, held);
  expect(await handle('ticket/shown').result()).toEqual({ state: 'decided', version: expect.any(Number) });
});

test('S2.1 where no juror is free, the timer says what is tried again', async () => {
  await court(api, 'nobody', { mode: 'assign', votesToWin: 1, assign: { jurors: 1, answerSeconds: 600 } });
  await jurors(api, 'nobody', []);
  await addCase(api, 'nobody', { id: 'lonely' });
  await eventually(async () => (await timers('case/lonely')).includes('jurors are asked for again'));
});

test('S0.9 the details begin with the state, and signals and queries are described', async () => {
  await add(api, 'described', { id: 'described', delaySeconds: 3_600 });
  const metadata = await eventually(() => handle('ticket/described').query<Json>('__temporal_workflow_metadata'));
  expect(metadata.currentDetails).toMatch(/^\*\*delayed\*\*.*next wake.*\*\*created\*\* by/s);
  const described = Object.fromEntries(
    [...metadata.definition.signalDefinitions, ...metadata.definition.queryDefinitions].map((d) => [
      d.name,
      d.description,
    ]),
  );
  for (const name of ['invalidate', 'release', 'reprioritize']) expect(described[name]).toMatch(/ Argument: \{".*\}$/);
  expect(described.state).toContain('next wake time');
});
