import type { Client } from '@temporalio/client';
import type { Change } from '../../contract/items.ts';
import type { Db, RowOf } from '../../db/pool.ts';
import { workflowId } from '../../domain/kinds.ts';
import type { Log } from '../log.ts';
import { Backlog, type Entry, LANES, type Lane, laneOf } from './backlog.ts';
import { changeOf, eventOf } from './messages.ts';
import { Publisher, QUEUE_ATTRIBUTE } from './publisher.ts';
import { Window } from './window.ts';

export interface RelayOptions {
  db: Db;
  client: Client;
  node: string;
  log: Log;
  /** Audits' callbacks that Temporal may have and the worker not, and as many outcomes. */
  concurrency: number;
  /** Items with nothing due whose workflows are started per second. */
  idlePerSecond: number;
  /** Items published per second while callers are busy, besides audits and outcomes. */
  busyPerSecond: number;
  /** Whether callers keep this process busy. */
  busy: () => boolean;
}

/** What the worker may have yet to do for the rest: it delays what is urgent by so many workflow tasks. */
const REST_WINDOW = 4;
/** The same while callers keep this process busy, and after something urgent: they share the cores. */
const YIELDING_WINDOW = 1;
const YIELD_MS = 1_000;
const REFILL = 1_000;
const FLUSH_MS = 20;
const MAX_PROBE_MS = 5_000;
const REFUSED_MS = 30_000;
const CLOSING_MS = 200;
/** gRPC: RESOURCE_EXHAUSTED, also said by a workflow that is just completing. */
const BUSY = 8;
/** gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE. */
const REFUSALS = new Set([3, 7, 9, 11]);

/**
 * From the outbox to the workflows: after each commit the changed items come here, are merged per item,
 * and sent as signals, one at a time per item. An acknowledged row is deleted; "not found" is an
 * acknowledgement too (there is no workflow), every other error keeps it. While Temporal is down one probe is
 * sent, not a retry per item.
 */
export class Relay {
  readonly #o: RelayOptions;
  readonly #backlog: Backlog;
  readonly #publisher: Publisher;
  readonly #sending = new Map<string, Entry>();
  readonly #windows: Map<Lane, Window>;
  #acknowledged: number[] = [];
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probeMs = 0;
  /** When something of the first two lanes was last sent. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  #spilled = false;
  /** Up to where the outbox has been read again. */
  #readTo = 0;
  #refilling = false;
  #stopped = false;

  constructor(options: RelayOptions) {
    this.#o = options;
    this.#backlog = new Backlog(options.idlePerSecond, options.busyPerSecond);
    this.#publisher = new Publisher(options.client);
    const hasRun = (key: string) => this.#publisher.hasRun(key);
    this.#windows = new Map(LANES.map((lane) => [lane, new Window(hasRun, () => this.#pump())]));
  }

  /** Items not published yet, in memory. */
  get pending(): number {
    return this.#backlog.size + this.#sending.size;
  }

  /** Whether the last attempt to reach Temporal failed. */
  get down(): boolean {
    return this.#probeMs > 0;
  }

  /** Takes over rows of the outbox, each with its item as of now. */
  publish(rows: (Change | RowOf<'own_outbox'>)[], byTime = false): void {
    for (const row of rows) {
      const adopted = 'outbox_version' in row;
      const version = adopted ? row.outbox_version : row.version;
      const fresh = !adopted && row.last_event === 'created' && !this.#sending.has(workflowId(row));
      const kept = this.#backlog.add(workflowId(row), {
        row: changeOf(row),
        version,
        event: eventOf(row),
        fresh,
        byTime,
      });
      if (!kept) this.#spilled = true;
      const superseded = this.#backlog.takeSuperseded(workflowId(row));
      if (superseded) this.#acknowledge(superseded);
    }
    this.#pump();
  }

  /** The workflow itself made the change and knows: nothing to send. */
  acknowledge(rows: Change[]): void {
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
    for (const window of this.#windows.values()) window.stop();
    while (this.#sending.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#flush();
  }

  #pump(): void {
    if (this.#stopped) return;
    const busy = this.#o.busy();
    const isOpen = (lane: Lane) => this.#window(lane).size < this.#limit(lane, busy);
    while (!(this.down && (this.#timer || this.#sending.size > 0))) {
      const entry = this.#backlog.next(isOpen, (key) => this.#sending.has(key), busy);
      if (!entry) break;
      void this.#send(entry);
    }
    if (this.#backlog.waitMs > 0 && !this.#timer) this.#later(this.#backlog.waitMs);
    if (this.#spilled && this.#backlog.roomy && !this.#refilling) void this.#refill();
  }

  #window = (lane: Lane) => this.#windows.get(lane) as Window;

  #limit(lane: Lane, busy: boolean): number {
    if (lane !== 'rest') return this.#o.concurrency;
    const yields = busy || performance.now() - this.#urgentAt < YIELD_MS;
    return yields ? YIELDING_WINDOW : Math.min(this.#o.concurrency, REST_WINDOW);
  }

  async #send(entry: Entry): Promise<void> {
    const lane = laneOf(entry.row);
    const window = this.#window(lane);
    if (lane !== 'rest') this.#urgentAt = performance.now();
    let taken = false;
    this.#sending.set(entry.key, entry);
    window.send();
    try {
      taken = await this.#publisher.publish(entry);
      this.#probeMs = 0;
      this.#acknowledge(entry.versions);
    } catch (error) {
      this.#failed(entry, error as Error);
    } finally {
      this.#sending.delete(entry.key);
      window.sent(entry.key, taken);
      this.#pump();
    }
  }

  #failed(entry: Entry, error: Error): void {
    const cause = `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`;
    if (this.#publisher.attributes && cause.includes(QUEUE_ATTRIBUTE)) {
      this.#publisher.attributes = false;
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
    if (!this.down) this.#o.log.warn({ item: entry.key, err: cause }, 'Temporal cannot be reached, trying again');
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
      await this.#o.db.run('acknowledge', { versions });
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
        const rows = await this.#o.db.run('own_outbox', { node: this.#o.node, after: this.#readTo, limit: REFILL });
        const last = rows.at(-1);
        if (!last) break;
        this.#readTo = last.outbox_version;
        const unknown = rows.filter((r) => !this.#backlog.has(workflowId(r)) && !this.#sending.has(workflowId(r)));
        this.publish(unknown);
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
