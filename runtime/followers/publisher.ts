import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ItemInput, Message, ReviewInput } from '../../contract/snapshot.ts';
import { workflowOf } from '../../domain/kinds.ts';
import { type Entry, isOver, isUrgent } from './lanes.ts';
import { messageOf, summaryOf } from './messages.ts';

export const TASK_QUEUE = 'docket';
/** For workflows that a caller or a clock waits for: reviews and the firings of schedules. */
export const URGENT_TASK_QUEUE = 'docket-urgent';
export const DELIVERY_TASK_QUEUE = 'docket-deliver';
/** For Nexus operations (B.1). */
export const NEXUS_TASK_QUEUE = 'docket-nexus';
/** Used by servers with priority support (1 goes first, 3 is the default); no order depends on it. */
const URGENT = { priorityKey: 1 };

export const QUEUE_ATTRIBUTE = 'docketQueue';
const queueAttribute = defineSearchAttributeKey(QUEUE_ATTRIBUTE, SearchAttributeType.KEYWORD);

/** Time-out of one message, after which Temporal counts as down. */
const TIMEOUT_MS = 5_000;
/** gRPC. */
const NOT_FOUND = 5;
const UNREACHABLE_MS = 1_000;
const MAX_TRIES = 3;

export interface PublisherOptions {
  /** Uses the worker's own connection, which eager start requires. */
  client: Client;
  /** Whether a pacemaker does the prompt work somewhere. */
  pacemaker: boolean;
}

type Input = ItemInput & ReviewInput;

/** Sends changed rows to the workflows of items and reviews, by signal, and starts workflows that do not run. */
export class Publisher {
  readonly #o: PublisherOptions;
  /** Whether the search attribute is registered; assumed until Temporal says no. */
  attributes = true;

  constructor(options: PublisherOptions) {
    this.#o = options;
  }

  /**
   * @param started whether its workflow is known to have been started
   * @returns whether a workflow task will run; false where there was no workflow and none is needed
   * @throws Temporal's error, or DEADLINE_EXCEEDED after 5 s
   */
  publish(entry: Entry, started: boolean): Promise<boolean> {
    return this.#within(() => this.#send(entry, started));
  }

  /** Whether the workflow has no pending workflow task, according to Temporal. */
  async hasRun(key: string): Promise<boolean> {
    const { workflowService, options } = this.#o.client;
    const request = { namespace: options.namespace, execution: { workflowId: key } };
    try {
      const call = () => workflowService.describeWorkflowExecution(request);
      const { pendingWorkflowTask: task } = await this.#within(call);
      // A task that failed has had its turn: it must not delay later messages.
      return !task || (task.attempt ?? 1) > 1;
    } catch (error) {
      if ((error as { code?: number }).code === NOT_FOUND) return true;
      // Temporal is unreachable: without a pause, this would retry in a busy loop.
      await sleep(UNREACHABLE_MS, undefined, { ref: false });
      return false;
    }
  }

  #within = <T>(call: () => Promise<T>): Promise<T> => this.#o.client.withDeadline(Date.now() + TIMEOUT_MS, call);

  /** Tries the likelier of signal and start first, then the other. */
  async #send(entry: Entry, started: boolean): Promise<boolean> {
    const message = messageOf(entry, Math.max(0, performance.now() - entry.readAt));
    if (started && (await this.#signal(entry, message))) return true;
    if (started && isOver(entry.row)) return false;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await this.#start(entry, message, tries > 0)) return true;
      if (await this.#signal(entry, message)) return true;
      // The workflow has completed, and nothing is left to do for this item.
      if (isOver(entry.row)) return false;
    }
    throw new Error(`${entry.key} completes whenever it is signalled`);
  }

  /** @returns false where no workflow runs */
  async #signal({ key, events }: Entry, message: Message): Promise<boolean> {
    try {
      await this.#o.client.workflow.getHandle(key).signal(events.at(-1)?.type ?? 'changed', message);
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return false;
    }
  }

  /**
   * @param again an earlier workflow of this id has completed: that of a cleared item, or this item's own. The new one
   * reads its row first, because `row` may be older than that end.
   * @returns false where it was started before
   */
  async #start({ key, lane, row, now, brief }: Entry, message: Message, again: boolean): Promise<boolean> {
    const { type, reopens, urgent } = workflowOf(row.kind);
    const startedWith = { graced: this.#o.pacemaker, readAt: now.toISOString(), message };
    const input: Input = { id: row.id, ...(urgent ? brief && { brief } : (reopens || !again) && { startedWith }) };
    try {
      await this.#o.client.workflow.start<(input: Input) => Promise<void>>(type, {
        workflowId: key,
        taskQueue: urgent ? URGENT_TASK_QUEUE : TASK_QUEUE,
        ...(isUrgent(lane) && { priority: URGENT }),
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
