import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Db } from '../db/pool.ts';
import type { Log } from './log.ts';
import { Repeating } from './repeating.ts';

const BATCH = 100;
const LOOK_MS = 5_000;

/**
 * Wakes workflows that wait for items that have ended (B.1), each until it has answered. The signal says only that it is
 * time to look: one that comes twice, or from somebody else, does no harm.
 */
export function createWaker(db: Db, client: Client, log: Log) {
  const rounds = new Repeating(wakeAll, (error: Error) =>
    log.warn({ err: error.message }, 'what waits for items could not be read'),
  );
  /** An item may have ended for which a workflow waits. */
  const look = () => rounds.run();
  let timer: NodeJS.Timeout | undefined;

  async function wakeAll(): Promise<void> {
    for (;;) {
      const due = await db.run('due_waits', { limit: BATCH });
      await Promise.all(due.map((wait) => wake(wait.workflow_id, wait.known)));
      if (due.length < BATCH) return;
    }
  }

  /** @param known whether a workflow that is not there has ended, or was lost with its Temporal */
  async function wake(workflowId: string, known: boolean): Promise<void> {
    try {
      await client.workflow.getHandle(workflowId).signal('ended');
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError))
        log.warn({ workflow: workflowId, err: (error as Error).message }, 'a waiting workflow was not woken');
      else if (known) await db.run('forget_wait', { workflowId });
    }
  }

  return {
    look,
    start() {
      timer = setInterval(look, LOOK_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await rounds.stop();
    },
  };
}
