import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ItemInput, Message, ReviewInput } from '../../contract/snapshot.ts';
import { workflowOf } from '../../domain/kinds.ts';
import { type Entry, isOver } from './lanes.ts';
import { messageOf, summaryOf } from './messages.ts';

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
const MAX_TRIES = 3;

/** What of the workflows of this process's worker goes with their start. */
interface PublisherOptions {
  /** Over the worker's own connection, so that the server may give it the first task of what it starts at once. */
  client: Client;
  /** Whether a pacemaker does the prompt work somewhere. */
  pacemaker: boolean;
}

type Input = ItemInput & ReviewInput;

/** Sends what changed to the workflows of items and reviews, by signal, and starts those that are not there. */
export class Publisher {
  readonly #client: Client;
  readonly #pacemaker: boolean;
  /** Whether the search attribute is registered, as far as known. */
  attributes = true;

  constructor({ client, pacemaker }: PublisherOptions) {
    this.#client = client;
    this.#pacemaker = pacemaker;
  }

  /**
   * @param started whether there is a workflow of it, as far as known
   * @returns whether a workflow has work of it now; not where nothing was there and nothing is needed
   * @throws what Temporal answers, or DEADLINE_EXCEEDED after 5 s
   */
  publish(entry: Entry, started: boolean): Promise<boolean> {
    return this.#client.withDeadline(Date.now() + TIMEOUT_MS, () => this.#send(entry, started));
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

  /** One of the two first, whichever is likely; the other where it finds that it was wrong. */
  async #send(entry: Entry, started: boolean): Promise<boolean> {
    const message = messageOf(entry, Math.max(0, performance.now() - entry.readAt));
    if (started && (await this.#signal(entry, message))) return true;
    if (started && isOver(entry.row)) return false;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await this.#start(entry, message, tries > 0)) return true;
      if (await this.#signal(entry, message)) return true;
      // it has completed, and of such a one nothing is wanted any more
      if (isOver(entry.row)) return false;
    }
    throw new Error(`${entry.key} completes whenever it is signalled`);
  }

  /** @returns false where there is no workflow that runs */
  async #signal({ key, events }: Entry, message: Message): Promise<boolean> {
    try {
      await this.#client.workflow.getHandle(key).signal(events.at(-1)?.type ?? 'changed', message);
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return false;
    }
  }

  /**
   * @param again one has completed: that of an item of this id that was cleared, or this one's own. A new one reads the row
   * before all else, for what is known here may be older than that end.
   * @returns false where it was started before
   */
  async #start({ key, lane, row, now, brief }: Entry, message: Message, again: boolean): Promise<boolean> {
    const { type, reopens, urgent } = workflowOf(row.kind);
    const startedWith = { graced: this.#pacemaker, readAt: now.toISOString(), message };
    const input: Input = { id: row.id, ...(urgent ? brief && { brief } : (reopens || !again) && { startedWith }) };
    try {
      await this.#client.workflow.start<(input: Input) => Promise<void>>(type, {
        workflowId: key,
        taskQueue: urgent ? URGENT_TASK_QUEUE : TASK_QUEUE,
        ...((lane === 'reviews' || lane === 'outcomes') && { priority: URGENT }),
        args: [input],
        requestEagerStart: true,
        workflowIdReusePolicy: reopens || again ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
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
