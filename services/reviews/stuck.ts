import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowId } from '../../domain/kinds.ts';
import { type Context, perContext } from '../shared/service.ts';

/** Reviews are examined when a callback has been pending for this long. */
const PENDING_SECONDS = 60;
const EACH_MS = 30_000;
/** Reviews examined in one pass. */
const MOST = 20;
/** A workflow task that failed this often will fail again. */
const ATTEMPTS = 3;
const TIMEOUT_MS = 5_000;

const next = perContext(() => ({ dueAt: 0 }));

/**
 * Starts a new run for each review that makes no progress (S1.2): its workflow task fails again and again, or its run
 * has ended without receiving later callbacks. The SDK may confuse the local activities of a run that it evicted and
 * replays (`Missing associated machine for LocalActivity`); such a run never recovers. A new run reads everything from
 * PostgreSQL, so nothing is lost. A maintenance chore, which only the leading worker runs.
 */
export async function restartStuck(ctx: Context): Promise<void> {
  const { db, client, log, follower } = ctx;
  if (!follower?.leads || performance.now() < next(ctx).dueAt) return;
  next(ctx).dueAt = performance.now() + EACH_MS;
  for (const { id } of await db.lists.run('waiting_reviews', { seconds: PENDING_SECONDS, limit: MOST })) {
    if (!(await isStuck(client, workflowId({ kind: 'review', id })))) continue;
    await db.run('put_off', { kind: 'review', id, seconds: 0 });
    follower.look(true);
    log.warn({ review: id }, 'its workflow made no progress and was started again');
  }
}

/** Terminates a run that makes no progress. @returns whether it has ended; false where there is none, or it works */
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
