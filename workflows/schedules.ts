import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ItemActivities } from '../activities/items.ts';

const { addOccurrence } = proxyActivities<ItemActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** One firing of a periodic job (S3.7): adds the job of that instant, once however often it is tried. */
export async function periodic(topic: string, name: string): Promise<void> {
  const [scheduled] = (workflowInfo().searchAttributes.TemporalScheduledStartTime ?? []) as Date[];
  const at = scheduled ? new Date(scheduled) : workflowInfo().startTime;
  await addOccurrence(topic, name, at.toISOString());
}
