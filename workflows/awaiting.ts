import * as wf from '@temporalio/workflow';
import type { ItemActivities } from '../activities/items.ts';
import type { Awaited, Outcome } from '../contract/snapshot.ts';
import { whenCancelled } from './runs.ts';

const db = wf.proxyLocalActivities<ItemActivities>({ startToCloseTimeout: '10s', retry: { maximumInterval: '30s' } });

/**
 * Waits for the end of an item, for one caller of a Nexus operation (B.1). Id `awaiting/<kind>/<id>/<operation>`. The
 * signal only wakes it: PostgreSQL says how the item ended.
 */
export async function awaiting(awaited: Awaited): Promise<Outcome> {
  const { workflowId } = wf.workflowInfo();
  let woken = false;
  let cancelled = false;
  wf.setHandler(wf.defineSignal('ended'), () => {
    woken = true;
  });
  whenCancelled(() => {
    cancelled = true;
  });
  return wf.CancellationScope.nonCancellable(async () => {
    for (;;) {
      woken = false;
      const outcome = await db.readOutcome(workflowId, awaited);
      if (outcome) return outcome;
      await wf.condition(() => woken || cancelled);
      if (!cancelled) continue;
      cancelled = false;
      if (awaited.onCancel === 'withdraw') await db.withdraw(workflowId, awaited);
      else {
        await db.forgetWait(workflowId);
        throw new wf.CancelledFailure('the caller waits no more');
      }
    }
  });
}
