import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Item, ToldRow } from '../contract/items.ts';
import type { Driven, ItemInput, Told } from '../contract/snapshot.ts';
import { acknowledge, ownOutbox, type ToldItem } from '../db/link.ts';
import type { Db } from '../db/pool.ts';
import { isFinal } from '../domain/items.ts';
import { Backlog, type Entry } from './backlog.ts';
import type { Log } from './log.ts';
import { eventOf, snapshotOf, toldRow } from './told.ts';

export interface RelayOptions {
  db: Db;
  client: Client;
  node: string;
  log: Log;
  /** Signals in flight while nobody calls the API. */
  concurrency: number;
  /** Items with nothing due that are told per second. */
  idlePerSecond: number;
  /** Items told per second while callers are busy; those with somebody to tell go all the same. */
  busyPerSecond: number;
  /** Whether callers keep this process busy. */
  busy: () => boolean;
}

const BUSY_CONCURRENCY = 2;
const REFILL = 1_000;
const FLUSH_MS = 20;
const MAX_PROBE_MS = 5_000;
const REFUSED_MS = 30_000;
const CLOSING_MS = 200;
/** gRPC: RESOURCE_EXHAUSTED, also said by a workflow that is just completing. */
const BUSY = 8;
/** gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE. */
const REFUSALS = new Set([3, 7, 9, 11]);
/** How long one signal may take before Temporal counts as down. */
const PATIENCE_MS = 5_000;

export const TASK_QUEUE = 'docket';
export const DELIVERY_TASK_QUEUE = 'docket-deliver';
export const QUEUE_ATTRIBUTE = 'docketQueue';
/** What comes back after its workflow has completed: reviews with each callback, tasks when their times change. */
const REOPENED = new Set<Driven>(['review', 'task', 'rotation']);
/** The name of a kind's workflow, as operators know it. */
const workflowType = (kind: Driven) => (kind === 'case' ? 'courtCase' : kind);
const queueAttribute = defineSearchAttributeKey(QUEUE_ATTRIBUTE, SearchAttributeType.KEYWORD);

/**
 * From the outbox to the workflows: after each commit the changed items are told here, merged per item,
 * and sent as signals, one at a time per item. An acknowledged row is deleted; "not found" is an
 * acknowledgement too (nobody there), every other error keeps it. While Temporal is down one probe is
 * sent, not a retry per item.
 */
export class Relay {
  readonly #o: RelayOptions;
  readonly #backlog: Backlog;
  readonly #sending = new Map<string, Entry>();
  #acknowledged: number[] = [];
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probeMs = 0;
  #spilled = false;
  /** Up to where the outbox has been read again. */
  #readTo = 0;
  #refilling = false;
  #attributes = true;
  #stopped = false;

  constructor(options: RelayOptions) {
    this.#o = options;
    this.#backlog = new Backlog(options.idlePerSecond, options.busyPerSecond);
  }

  /** Items not told yet, in memory. */
  get pending(): number {
    return this.#backlog.size + this.#sending.size;
  }

  /** Whether the last attempt to reach Temporal failed. */
  get down(): boolean {
    return this.#probeMs > 0;
  }

  /** Takes over rows of the outbox, each with its item as of now. */
  tell(rows: (ToldRow | ToldItem)[], byTick = false): void {
    for (const row of rows) {
      const adopted = 'told_version' in row;
      const version = adopted ? row.told_version : row.version;
      const fresh = !adopted && row.last_event === 'created' && !this.#sending.has(keyOf(row));
      const kept = this.#backlog.add(keyOf(row), { row: toldRow(row), version, event: eventOf(row), fresh, byTick });
      if (!kept) this.#spilled = true;
      const moot = this.#backlog.takeMoot(keyOf(row));
      if (moot) this.#acknowledge(moot);
    }
    this.#pump();
  }

  /** The workflow itself made the change and knows: nothing to send. */
  settle(rows: Item[]): void {
    this.#acknowledge(rows.map((r) => r.version));
  }

  /** Looks for rows of this process in the outbox that it doesn't know of: a commit's answer may have been lost. */
  lookBack(): void {
    this.#spilled = true;
    this.#pump();
  }

  /** Sends no more, and waits for what is under way; the rest stays in the outbox. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    while (this.#sending.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#flush();
  }

  #pump(): void {
    if (this.#stopped) return;
    const busy = this.#o.busy();
    const limit = this.down ? 1 : busy ? BUSY_CONCURRENCY : this.#o.concurrency;
    while (this.#sending.size < limit && !(this.down && this.#timer)) {
      const entry = this.#backlog.next((key) => this.#sending.has(key), busy);
      if (!entry) break;
      void this.#send(entry);
    }
    if (this.#backlog.waitMs > 0 && !this.#timer) this.#later(this.#backlog.waitMs);
    if (this.#spilled && this.#backlog.roomy && !this.#refilling) void this.#refill();
  }

  async #send(entry: Entry): Promise<void> {
    this.#sending.set(entry.key, entry);
    try {
      await this.#o.client.withDeadline(Date.now() + PATIENCE_MS, () => this.#signal(entry));
      this.#probeMs = 0;
      this.#acknowledge(entry.versions);
    } catch (error) {
      this.#failed(entry, error as Error);
    } finally {
      this.#sending.delete(entry.key);
      this.#pump();
    }
  }

  async #signal(entry: Entry): Promise<void> {
    const { key, row, events, fresh, heardAt } = entry;
    const sinceMs = Math.max(0, performance.now() - heardAt);
    const told: Told = {
      snapshot: snapshotOf(row, new Date(row.updated_at.getTime() + sinceMs)),
      events,
    };
    const name = events.at(-1)?.type ?? 'changed';
    const over = isFinal(row.state) && !row.telling;
    try {
      // a workflow that is there already is told for less than the start that would find it running;
      // a review's is mostly not there
      if (over || !(fresh || row.kind === 'review'))
        return await this.#o.client.workflow.getHandle(key).signal(name, told);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      if (over) return;
    }
    await this.#start(entry, name, told);
  }

  /** Starts the workflow and tells it in one; of one that has completed nothing is wanted any more. */
  async #start({ key, row }: Entry, signal: string, told: Told): Promise<void> {
    const input: ItemInput = { id: row.id };
    try {
      await this.#o.client.workflow.signalWithStart<(input: ItemInput) => Promise<void>, [Told]>(
        workflowType(row.kind),
        {
          workflowId: key,
          taskQueue: TASK_QUEUE,
          args: [input],
          signal,
          signalArgs: [told],
          workflowIdReusePolicy: REOPENED.has(row.kind) ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
          staticSummary: row.queue ? `${row.kind} in ${row.queue}` : row.kind,
          ...(row.queue && this.#attributes && { typedSearchAttributes: [{ key: queueAttribute, value: row.queue }] }),
        },
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  #failed(entry: Entry, error: Error): void {
    const cause = `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`;
    if (this.#attributes && cause.includes(QUEUE_ATTRIBUTE)) {
      this.#attributes = false;
      this.#backlog.putBack(entry);
      this.#o.log.warn({ attribute: QUEUE_ATTRIBUTE }, 'search attribute is not registered, going on without it');
      return;
    }
    const code = (error.cause as { code?: number } | undefined)?.code ?? (error as { code?: number }).code;
    if (code !== undefined && REFUSALS.has(code)) {
      // Temporal works and refuses this one: it must not hold up the others
      this.#o.log.error({ item: entry.key, err: cause }, 'Temporal refuses this signal, trying again later');
      this.#putBackIn(REFUSED_MS, entry);
      return;
    }
    if (code === BUSY) {
      this.#putBackIn(CLOSING_MS, entry);
      return;
    }
    this.#backlog.putBack(entry);
    if (!this.down) this.#o.log.warn({ item: entry.key, err: cause }, 'Temporal cannot be told, trying again');
    this.#probeMs = Math.min(MAX_PROBE_MS, this.#probeMs * 2 || 100);
    clearTimeout(this.#timer);
    this.#later(this.#probeMs);
  }

  #putBackIn(ms: number, entry: Entry): void {
    setTimeout(() => {
      this.#backlog.putBack(entry);
      this.#pump();
    }, ms).unref();
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pump();
    }, ms);
    this.#timer.unref();
  }

  #acknowledge(versions: number[]): void {
    this.#acknowledged.push(...versions);
    this.#flushing ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#flushing = undefined;
        void this.#flush().finally(resolve);
      }, FLUSH_MS);
    });
  }

  async #flush(): Promise<void> {
    const versions = this.#acknowledged;
    if (versions.length === 0) return;
    this.#acknowledged = [];
    try {
      await acknowledge(this.#o.db, versions);
    } catch (error) {
      this.#o.log.warn({ err: (error as Error).message }, 'outbox rows could not be deleted, trying again');
      if (!this.#stopped) setTimeout(() => this.#acknowledge(versions), 1000).unref();
    }
  }

  /** Takes back what was left in the outbox because too much was in memory. */
  async #refill(): Promise<void> {
    this.#refilling = true;
    try {
      for (;;) {
        const rows = await ownOutbox(this.#o.db, this.#o.node, this.#readTo, REFILL);
        const last = rows.at(-1);
        if (!last) break;
        this.#readTo = last.told_version;
        const unknown = rows.filter((r) => !this.#backlog.has(keyOf(r)) && !this.#sending.has(keyOf(r)));
        this.tell(unknown);
        if (this.#backlog.full) return;
      }
      this.#spilled = false;
      this.#readTo = 0;
    } catch (error) {
      this.#o.log.warn({ err: (error as Error).message }, 'the outbox could not be read, trying again');
    } finally {
      setTimeout(() => {
        this.#refilling = false;
        this.#pump();
      }, 200).unref();
    }
  }
}

export const keyOf = (row: Pick<ToldRow, 'kind' | 'id'>) => `${row.kind}/${row.id}`;
