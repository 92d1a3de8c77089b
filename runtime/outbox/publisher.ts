import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ItemInput, Message } from '../../contract/snapshot.ts';
import { isFinal } from '../../domain/items.ts';
import { workflowOf } from '../../domain/kinds.ts';
import { type Entry, laneOf } from './backlog.ts';
import { snapshotOf, summaryOf } from './messages.ts';

export const TASK_QUEUE = 'docket';
/** Of workflows that a caller or a clock waits for: reviews and the firings of schedules. */
export const URGENT_TASK_QUEUE = 'docket-urgent';
export const DELIVERY_TASK_QUEUE = 'docket-deliver';
/** For servers that honour it (1 goes first, 3 is the default); no order depends on it. */
const URGENT = { priorityKey: 1 };

export const QUEUE_ATTRIBUTE = 'docketQueue';
const queueAttribute = defineSearchAttributeKey(QUEUE_ATTRIBUTE, SearchAttributeType.KEYWORD);

/** How long one message may take before Temporal counts as down. */
const TIMEOUT_MS = 5_000;
/** gRPC. */
const NOT_FOUND = 5;
const UNREACHABLE_MS = 1_000;

/** Sends what changed to the workflows of items and reviews, by signal, and starts those that are not there. */
export class Publisher {
  readonly #client: Client;
  /** Whether the search attribute is registered, as far as known. */
  attributes = true;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * @returns whether a workflow has work of it now; not where nothing was there and nothing is needed
   * @throws what Temporal answers, or DEADLINE_EXCEEDED after 5 s
   */
  publish(entry: Entry): Promise<boolean> {
    return this.#client.withDeadline(Date.now() + TIMEOUT_MS, () => this.#signal(entry));
  }

  /** Whether the workflow has done what it was last sent, as far as Temporal knows. */
  async hasRun(key: string): Promise<boolean> {
    const request = { namespace: this.#client.options.namespace, execution: { workflowId: key } };
    try {
      const call = () => this.#client.workflowService.describeWorkflowExecution(request);
      const { pendingWorkflowTask: task } = await this.#client.withDeadline(Date.now() + TIMEOUT_MS, call);
      // a task that failed has had its turn: it must not hold up what was sent after it
      return !task || (task.attempt ?? 1) > 1;
    } catch (error) {
      if ((error as { code?: number }).code === NOT_FOUND) return true;
      // it cannot be reached: asking at the pace of an answer would be a load of its own
      await sleep(UNREACHABLE_MS, undefined, { ref: false });
      return false;
    }
  }

  async #signal(entry: Entry): Promise<boolean> {
    const { key, row, events, fresh, changedAt } = entry;
    const sinceMs = Math.max(0, performance.now() - changedAt);
    const message: Message = {
      snapshot: snapshotOf(row, new Date(row.updated_at.getTime() + sinceMs)),
      events,
    };
    const name = events.at(-1)?.type ?? 'changed';
    const over = isFinal(row.state) && !row.telling;
    try {
      // a signal costs less than a start that finds the workflow running
      if (over || !(fresh || workflowOf(row.kind).urgent)) {
        await this.#client.workflow.getHandle(key).signal(name, message);
        return true;
      }
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      if (over) return false;
    }
    return this.#start(entry, name, message);
  }

  /** Starts the workflow with its first signal; of one that has completed nothing is wanted any more. */
  async #start({ key, row }: Entry, signal: string, message: Message): Promise<boolean> {
    const input: ItemInput = { id: row.id };
    const { type, reopens, urgent } = workflowOf(row.kind);
    try {
      await this.#client.workflow.signalWithStart<(input: ItemInput) => Promise<void>, [Message]>(type, {
        workflowId: key,
        taskQueue: urgent ? URGENT_TASK_QUEUE : TASK_QUEUE,
        ...(laneOf(row) !== 'rest' && { priority: URGENT }),
        args: [input],
        signal,
        signalArgs: [message],
        workflowIdReusePolicy: reopens ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
        staticSummary: summaryOf(row),
        ...(row.queue && this.attributes && { typedSearchAttributes: [{ key: queueAttribute, value: row.queue }] }),
      });
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return false;
    }
  }
}
