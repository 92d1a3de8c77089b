import { workflowId } from '../../domain/kinds.ts';
import type { Limits } from '../limits.ts';
import type { Log } from '../log.ts';
import { type Entry, isUrgent, LANES, type Lane, Lanes, mayRun } from './lanes.ts';
import type { Publication } from './messages.ts';
import { type Callers, MOST_PER_SECOND, Pace } from './pace.ts';
import { Publisher, type PublisherOptions, QUEUE_ATTRIBUTE } from './publisher.ts';
import { createWindow, type Window } from './window.ts';

export interface SenderOptions
  extends PublisherOptions,
    Pick<Limits, 'publishConcurrency' | 'publishIdlePerSecond' | 'publishBusyPerSecond'> {
  log: Log;
  callers: Callers;
  /** Whether an item that only waits, or is over, needs no workflow. */
  isNeedless: (entry: Entry) => boolean;
  /** Called when an entry has been received by its workflow, or needs none. */
  done: (entry: Entry) => void;
  /** Called when Temporal rejects an entry, which must not delay the others. Resolves when it is stored elsewhere. */
  refused: (entry: Entry) => Promise<void>;
}

/**
 * Maximum unprocessed low-priority messages while callers are active: they delay an urgent one by so many workflow tasks.
 * Without callers nothing urgent is expected; the first urgent message lowers the limit to one.
 */
const REST_WINDOW = 4;
/** Messages a second that a window of one allows: enough after an urgent message and beside slowed callers. */
const PER_SECOND_EACH = 25;
const YIELD_MS = 1_000;
/** So long after a call or an urgent message the next one is not expected. */
const QUIET_MS = 10_000;
const MAX_PROBE_MS = 5_000;
const CLOSING_MS = 200;
/** gRPC: RESOURCE_EXHAUSTED, also the answer for a workflow that is just completing. */
const BUSY = 8;
/** gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE. */
const REFUSALS = new Set([3, 7, 9, 11]);
/** Maximum number of items whose last message is remembered. */
const MAX_KNOWN = 50_000;
/** Less than the 10 s after which an idle review's workflow ends. */
const REVIEW_RUNS_MS = 8_000;
/** Temporal starts no second run of an id within a second (its setting history.workflowIdReuseMinimalInterval). */
const REUSE_MS = 1_000;

/**
 * Sends the messages that followers of the log have read, merged per item and one at a time per item. Only Temporal's
 * answer removes an entry; while Temporal is down one probe is sent, not a retry per item.
 */
export class Sender {
  readonly #o: SenderOptions;
  readonly #pace: Pace;
  readonly #lanes: Lanes;
  readonly #publisher: Publisher;
  readonly #sending = new Map<string, Entry>();
  /** Entries that are sent again shortly, or are being stored elsewhere. */
  readonly #putOff = new Set<Entry>();
  readonly #windows: Map<Lane, Window>;
  /** By item: the version that its workflow has, and when it was sent. */
  readonly #known = new Map<string, { version: number; epoch: number; at: number; brief: boolean }>();
  #timer: NodeJS.Timeout | undefined;
  #probeMs = 0;
  /** When a message of the first two lanes was last sent. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  #calledAt = performance.now();
  #stopped = false;

  constructor(options: SenderOptions) {
    this.#o = options;
    this.#pace = new Pace(options.callers, options.publishBusyPerSecond);
    this.#lanes = new Lanes(this.#idlePerSecond, this.#pace, options.isNeedless);
    this.#publisher = new Publisher(options);
    const windowOf = () =>
      createWindow(
        (key) => this.#publisher.hasRun(key),
        () => this.pump(),
      );
    const rest = windowOf();
    this.#windows = new Map(LANES.map((lane) => [lane, isUrgent(lane) ? windowOf() : rest]));
  }

  /** Items not published yet, in memory. */
  get pending(): number {
    return this.#lanes.size + this.#sending.size + this.#putOff.size;
  }

  /** Whether the last attempt to reach Temporal failed. */
  get down(): boolean {
    return this.#probeMs > 0;
  }

  hasSpace = (lane: Lane) => this.#lanes.hasSpace(lane);

  /** Entries that no workflow is known to have received. */
  unacknowledged(): Entry[] {
    return [...this.#lanes.entries(), ...this.#sending.values(), ...this.#putOff];
  }

  clear(): void {
    this.#lanes.clear();
    this.#putOff.clear();
  }

  /** The lane of an item's message; undefined: its workflow has this version already. */
  laneOf(publication: Publication): Lane | undefined {
    const { row, epoch, marked } = publication;
    const key = workflowId(row);
    const known = this.#known.get(key);
    const has = known && known.epoch === epoch && known.version >= row.version;
    if (has && row.kind !== 'review' && marked === undefined) return undefined;
    return this.#lanes.laneOf(publication, key, known !== undefined);
  }

  /** Whether the item has an entry in that lane. */
  isQueuedIn = (lane: Lane, { row }: Publication) => this.#lanes.queuedIn(workflowId(row)) === lane;

  /** @returns false when its lane has no space: the line is read again later */
  add(lane: Lane, publication: Publication): boolean {
    return this.#lanes.add(workflowId(publication.row), lane, publication);
  }

  /** Notes that the worker of this process has run a workflow task of that id. */
  ran(workflow: string): void {
    for (const window of new Set(this.#windows.values())) window.ran(workflow);
  }

  /** Stops sending, and waits for the calls under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const window of this.#windows.values()) window.stop();
    while (this.#sending.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Sends all entries that may be sent now. */
  pump(): void {
    if (this.#stopped) return;
    while (!(this.down && (this.#timer || this.#sending.size > 0))) {
      const entry = this.#lanes.next(this.#gate);
      if (!entry) break;
      if (entry.needless && !mayRun(entry)) this.#o.done(entry);
      else void this.#send(entry);
    }
    if (this.#lanes.waitMs > 0 && !this.#timer) this.#later(this.#lanes.waitMs);
  }

  /** Where nobody has called, and nothing urgent has been sent for a while, as fast as Temporal takes it. */
  readonly #idlePerSecond = () => {
    const now = performance.now();
    if (this.#o.callers.slowdown !== undefined) this.#calledAt = now;
    const isQuiet = now - Math.max(this.#calledAt, this.#urgentAt) > QUIET_MS;
    return isQuiet ? MOST_PER_SECOND : this.#o.publishIdlePerSecond;
  };

  #window = (lane: Lane) => this.#windows.get(lane) as Window;

  #limit(lane: Lane): number {
    const { publishConcurrency: most, callers } = this.#o;
    if (isUrgent(lane)) return most;
    if (performance.now() - this.#urgentAt < YIELD_MS) return 1;
    const beside = callers.slowdown === undefined ? most : REST_WINDOW;
    return Math.min(most, beside, Math.ceil(this.#pace.perSecond / PER_SECOND_EACH));
  }

  readonly #gate = {
    isOpen: (lane: Lane) => this.#window(lane).size() < this.#limit(lane),
    isSending: (key: string) => this.#sending.has(key),
    notBefore: (key: string) => {
      const known = this.#known.get(key);
      return known?.brief ? known.at + REUSE_MS : 0;
    },
  };

  async #send(entry: Entry): Promise<void> {
    const { key, lane } = entry;
    const window = this.#window(lane);
    if (isUrgent(lane)) this.#urgentAt = performance.now();
    let taken = false;
    this.#sending.set(key, entry);
    window.send(key);
    try {
      taken = await this.#publisher.publish(entry, mayRun(entry) || this.#isStarted(entry));
      this.#probeMs = 0;
      this.#learn(entry);
      this.#o.done(entry);
    } catch (error) {
      this.#failed(entry, error as Error);
    } finally {
      this.#sending.delete(key);
      window.sent(key, taken);
      this.pump();
    }
  }

  #isStarted({ key, row }: Entry): boolean {
    const known = this.#known.get(key);
    if (!known || row.kind !== 'review') return known !== undefined;
    return !known.brief && performance.now() - known.at < REVIEW_RUNS_MS;
  }

  #learn({ key, row, epoch, brief }: Entry): void {
    this.#known.delete(key);
    this.#known.set(key, { version: row.version, epoch, at: performance.now(), brief: brief ?? false });
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
  }

  #failed(entry: Entry, error: Error): void {
    const cause = `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`;
    if (this.#publisher.attributes && cause.includes(QUEUE_ATTRIBUTE)) {
      this.#publisher.attributes = false;
      this.#lanes.putBack(entry);
      this.#o.log.warn({ attribute: QUEUE_ATTRIBUTE }, 'search attribute is not registered, going on without it');
      return;
    }
    const code = (error.cause as { code?: number } | undefined)?.code ?? (error as { code?: number }).code;
    if (code !== undefined && REFUSALS.has(code)) {
      this.#o.log.error({ item: entry.key, err: cause }, 'Temporal refuses this message, trying again later');
      void this.#refuse(entry);
      return;
    }
    if (code === BUSY) {
      this.#putBackSoon(entry);
      return;
    }
    this.#lanes.putBack(entry);
    if (!this.down) this.#o.log.warn({ item: entry.key, err: cause }, 'Temporal cannot be reached, trying again');
    this.#probeMs = Math.min(MAX_PROBE_MS, this.#probeMs * 2 || 100);
    clearTimeout(this.#timer);
    this.#later(this.#probeMs);
  }

  /** The entry is unacknowledged until it is stored elsewhere, so no cursor passes it. */
  async #refuse(entry: Entry): Promise<void> {
    this.#putOff.add(entry);
    try {
      await this.#o.refused(entry);
      this.#putOff.delete(entry);
    } catch {
      if (this.#putOff.has(entry)) this.#putBackSoon(entry);
    }
  }

  #putBackSoon(entry: Entry): void {
    this.#putOff.add(entry);
    setTimeout(() => {
      if (this.#putOff.delete(entry)) this.#lanes.putBack(entry);
      this.pump();
    }, CLOSING_MS).unref();
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, ms);
    this.#timer.unref();
  }
}
