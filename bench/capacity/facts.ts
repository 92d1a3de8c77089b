import type { WorkflowHandle } from '@temporalio/client';
import type { Lab } from '../lab.ts';

/** What one workflow is to Temporal, whatever stores it. */
export interface Facts {
  /** Writes of its state, each under the lock of its shard. */
  transitions: number;
  /** Of its history. */
  events: number;
  /** Of its history. */
  bytes: number;
  /** What Temporal Cloud bills, as far as its history shows it. */
  actions: number;
}

const LOOKED_AT = 5;
const BILLED = new Set([
  'workflowExecutionStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'timerStartedEventAttributes',
  'activityTaskScheduledEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
]);

type Events = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events'];

/** Local activities of one workflow task are one action. */
function actionsOf(events: Events): number {
  const billed = (events ?? []).filter((event) => BILLED.has(event.attributes ?? ''));
  const local = (events ?? []).flatMap(
    (event) => event.markerRecordedEventAttributes?.workflowTaskCompletedEventId ?? [],
  );
  return billed.length + new Set(local.map(String)).size;
}

/** The mean over a few workflows that have completed. */
export async function factsOf({ client }: Lab, type: string): Promise<Facts> {
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`;
  const sum = { transitions: 0, events: 0, bytes: 0, actions: 0 };
  let n = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: LOOKED_AT })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { raw } = await handle.describe();
    const info = raw.workflowExecutionInfo;
    const { events } = await handle.fetchHistory();
    sum.transitions += Number(info?.stateTransitionCount ?? 0);
    sum.events += Number(info?.historyLength ?? 0);
    sum.bytes += Number(info?.historySizeBytes ?? 0);
    sum.actions += actionsOf(events);
    if (++n === LOOKED_AT) break;
  }
  const each = (whole: number) => whole / Math.max(1, n);
  const { transitions, events, bytes, actions } = sum;
  return { transitions: each(transitions), events: each(events), bytes: each(bytes), actions: each(actions) };
}
