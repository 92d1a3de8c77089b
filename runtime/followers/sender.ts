import type { Client } from '@temporalio/client';
import { workflowId } from '../../domain/kinds.ts';
import type { Log } from '../log.ts';
import { type Entry, isOver, LANES, type Lane, Lanes, mayRun } from './lanes.ts';
import type { Publication } from './messages.ts';
import { type Callers, Pace } from './pace.ts';
import { Publisher, QUEUE_ATTRIBUTE } from './publisher.ts';
import { Window } from './window.ts';

export interface SenderOptions {
  client: Client;
  log: Log;
  pacemaker: boolean;
  /** Audits' callbacks that Temporal may have and the worker not, and as many outcomes. */
  concurrency: number;
  /** Items with nothing due whose workflows are started per second. */
  idlePerSecond: number;
  /** Items published per second at least while callers are slowed down, besides audits and outcomes. */
  busyPerSecond: number;
  callers: Callers;
  /** Whether an item that only waits, or is over, goes without a workflow. */
  isNeedless: (entry: Entry) => boolean;
  /** Some entry has been received by its workflow, or needs none. */
  done: (entry: Entry) => void;
  /** Temporal works and refuses this one: it must not hold up the others. Resolves when it is kept elsewhere. */
  refused: (entry: Entry) => Promise<void>;
}

/**
 * What the worker may have yet to do for the rest, beside callers: it delays what is urgent by so many workflow tasks. Where no
 * one calls, nothing urgent is about to come, and the first that comes makes it one.
 */
const REST_WINDOW = 4;
/** One at a time does about as many a second, which is enough after something urgent and beside slowed callers. */
const PER_SECOND_EACH = 25;
const YIELD_MS = 1_000;
const MAX_PROBE_MS = 5_000;
const CLOSING_MS = 200;
/** gRPC: RESOURCE_EXHAUSTED, also said by a workflow that is just completing. */
const BUSY = 8;
/** gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE. */
const REFUSALS = new Set([3, 7, 9, 11]);
/** Items whose last message is remembered. */
const MAX_KNOWN = 50_000;
/** A review's workflow that is not brief ends when nothing has come for 10 s. */
const REVIEW_RUNS_MS = 8_000;
/** Temporal starts no second run of an id within a second (its setting history.workflowIdReuseMinimalInterval). */
const REUSE_MS = 1_000;

/**
 * Sends what followers of the log have read, merged per item, one at a time per item. Only an answer takes an entry away;
 * while Temporal is down one probe is sent, not a retry per item.
 */
export class Sender {
  readonly #o: SenderOptions;
  readonly #pace: Pace;
  readonly #lanes: Lanes;
  readonly #publisher: Publisher;
  readonly #sending = new Map<string, Entry>();
  /** Sent again after a moment, or about to be kept elsewhere. */
  readonly #putOff = new Set<Entry>();
  readonly #windows: Map<Lane, Window>;
  /** By item the version that its workflow has, and when it was sent. */
  readonly #known = new Map<string, { version: number; epoch: number; at: number; brief: boolean }>();
  #timer: NodeJS.Timeout | undefined;
  #probeMs = 0;
  /** When something of the first two lanes was last sent. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: SenderOptions) {
    this.#o = options;
    this.#pace = new Pace(options.callers, options.busyPerSecond);
    this.#lanes = new Lanes(options.idlePerSecond, this.#pace, options.isNeedless);
    this.#publisher = new Publisher(options);
    const windowOf = () =>
      new Window(
        (key) => this.#publisher.hasRun(key),
        () => this.pump(),
      );
    const rest = windowOf();
    this.#windows = new Map(LANES.map((lane) => [lane, lane === 'rest' || lane === 'idle' ? rest : windowOf()]));
  }

  /** Items not published yet, in memory. */
  get pending(): number {
    return this.#lanes.size + this.#sending.size + this.#putOff.size;
  }

  /** Whether the last attempt to reach Temporal failed. */
  get down(): boolean {
    return this.#probeMs > 0;
  }

  isRoomy = (lane: Lane) => this.#lanes.isRoomy(lane);

  /** What no workflow is known to have received yet. */
  unacknowledged(): Entry[] {
    return [...this.#lanes.entries(), ...this.#sending.values(), ...this.#putOff];
  }

  /** Forgets what has not been sent. */
  clear(): void {
    this.#lanes.clear();
    this.#putOff.clear();
  }

  /** The lane that an item's message belongs to; undefined: its workflow has it. */
  laneOf(publication: Publication): Lane | undefined {
    const { row, epoch, marked } = publication;
    const key = workflowId(row);
    const known = this.#known.get(key);
    const has = known && known.epoch === epoch && known.version >= row.version;
    if (has && row.kind !== 'review' && marked === undefined) return undefined;
    return this.#lanes.laneOf(publication, key, known !== undefined);
  }

  /** Whether it waits in that lane, with what came before it. */
  isQueuedIn = (lane: Lane, { row }: Publication) => this.#lanes.queuedIn(workflowId(row)) === lane;

  /** @returns false when its lane has no space: it is to be read again later */
  add(lane: Lane, publication: Publication): boolean {
    return this.#lanes.add(workflowId(publication.row), lane, publication);
  }

  /** A workflow has done in this process what it was sent. */
  ran(workflow: string): void {
    for (const window of new Set(this.#windows.values())) window.ran(workflow);
  }

  /** Sends no more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const window of this.#windows.values()) window.stop();
    while (this.#sending.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Sends what may be sent now. */
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

  #window = (lane: Lane) => this.#windows.get(lane) as Window;

  #limit(lane: Lane): number {
    if (lane === 'reviews' || lane === 'outcomes') return this.#o.concurrency;
    if (performance.now() - this.#urgentAt < YIELD_MS) return 1;
    const most = this.#o.callers.slowdown === undefined ? this.#o.concurrency : REST_WINDOW;
    return Math.min(this.#o.concurrency, most, Math.ceil(this.#pace.perSecond / PER_SECOND_EACH));
  }

  readonly #gate = {
    isOpen: (lane: Lane) => this.#window(lane).size < this.#limit(lane),
    isSending: (key: string) => this.#sending.has(key),
    notBefore: (key: string) => {
      const known = this.#known.get(key);
      return known?.brief ? known.at + REUSE_MS : 0;
    },
  };

  async #send(entry: Entry): Promise<void> {
    const { key, lane, row } = entry;
    const window = this.#window(lane);
    if (lane === 'reviews' || lane === 'outcomes') this.#urgentAt = performance.now();
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
      window.sent(key, taken && !isOver(row));
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
    if (this.#known.size <= MAX_KNOWN) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
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

  /** Until it is kept elsewhere it is unacknowledged: no cursor may pass it. */
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
