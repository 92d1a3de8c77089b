import { defaultPayloadConverter } from '@temporalio/common';
import type { RunningProcess } from '../../cli/process.ts';

/** Summaries of the timers that a workflow has started, in order, as the Temporal UI shows them. */
export async function timersOf(running: RunningProcess, workflowId: string): Promise<unknown[]> {
  const { events } = await running.runtime.client.workflow.getHandle(workflowId).fetchHistory();
  const started = events?.filter((event) => event.timerStartedEventAttributes) ?? [];
  return started.map(
    ({ userMetadata }) => userMetadata?.summary && defaultPayloadConverter.fromPayload(userMetadata.summary),
  );
}
