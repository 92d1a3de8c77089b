import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowId } from '../../domain/kinds.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** How long a callback may wait to be applied before its review is looked at; and how often that is done. */
const WAITED_SECONDS = 60;
const EACH_MS = 30_000;
/** So many at once; the others have their turn later. */
const MOST = 20;
/** A workflow task that was tried so often will not succeed by being tried again. */
const ATTEMPTS = 3;
const TIMEOUT_MS = 5_000;

/**
 * Gives reviews that make no progress a new run (S1.2): where the workflow task of the run fails again and again, or the run has
 * ended and what came since was not received. The SDK may mix up local activities of a run that it has evicted and reads
 * again (`Missing associated machine for LocalActivity`), in which that run then stays for good. A new run reads all from
 * PostgreSQL, so that nothing is lost with the old one. One worker does it.
 */
export function restartStuckReviews({ db, client, log, follower, maintenance }: Runtime): void {
  let dueAt = 0;
  maintenance.add(async () => {
    if (!follower?.leads || performance.now() < dueAt) return;
    dueAt = performance.now() + EACH_MS;
    for (const { id } of await db.lists.run('waiting_reviews', { seconds: WAITED_SECONDS, limit: MOST })) {
      if (!(await isStuck(client, workflowId({ kind: 'review', id })))) continue;
      await db.run('put_off', { kind: 'review', id, seconds: 0 });
      follower.look(true);
      log.warn({ review: id }, 'its workflow made no progress and was started again');
    }
  });
}

/** Ends a run that makes no progress. @returns whether it is over; false where there is none, or one that works */
async function isStuck(client: Client, id: string): Promise<boolean> {
  const handle = client.workflow.getHandle(id);
  try {
    return await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      const { status, runId, raw } = await handle.describe();
      if (status.name !== 'RUNNING') return true;
      if ((raw.pendingWorkflowTask?.attempt ?? 0) < ATTEMPTS) return false;
      await client.workflow
        .getHandle(id, runId)
        .terminate('its workflow task fails again and again: a new run goes on');
      return true;
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
