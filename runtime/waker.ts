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
export class Waker {
  readonly #db: Db;
  readonly #client: Client;
  readonly #log: Log;
  readonly #rounds: Repeating;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Db, client: Client, log: Log) {
    this.#db = db;
    this.#client = client;
    this.#log = log;
    const failed = (error: Error) => log.warn({ err: error.message }, 'what waits for items could not be read');
    this.#rounds = new Repeating(() => this.#wakeAll(), failed);
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** An item may have ended for which a workflow waits. */
  look(): void {
    this.#rounds.run();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#rounds.stop();
  }

  async #wakeAll(): Promise<void> {
    for (;;) {
      const due = await this.#db.run('due_waits', { limit: BATCH });
      await Promise.all(due.map((wait) => this.#wake(wait.workflow_id, wait.known)));
      if (due.length < BATCH) return;
    }
  }

  /** @param known whether a workflow that is not there has ended, or was lost with its Temporal */
  async #wake(workflowId: string, known: boolean): Promise<void> {
    try {
      await this.#client.workflow.getHandle(workflowId).signal('ended');
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError))
        this.#log.warn({ workflow: workflowId, err: (error as Error).message }, 'a waiting workflow was not woken');
      else if (known) await this.#db.run('forget_wait', { workflowId });
    }
  }
}
