import TinyQueue from 'tinyqueue';
import type { Change } from '../../contract/items.ts';
import { isFinal, lastEvents } from '../../domain/items.ts';
import { workflowOf } from '../../domain/kinds.ts';
import type { Publication } from './messages.ts';
import { Allowance, type Pace } from './pace.ts';

/** The message for one item's workflow; later lines are merged into it until it is sent. */
export interface Entry extends Publication {
  key: string;
  lane: Lane;
  /** `performance.now()` when `row` was read. */
  readAt: number;
  /** It needs no workflow. */
  needless?: boolean;
  /** Reviews only: the lane is so full that the workflow should end as soon as it has nothing left to do. */
  brief?: boolean;
  /** `performance.now()` before which it is not sent, so that later lines are merged into it. */
  notBefore: number;
}

/**
 * Independent publishing lanes: callbacks of audits; outcomes that a receiver waits for, and cases that lack jurors; the
 * rest, whose due work the database's clock does without the workflow; and items that have no workflow yet and need none
 * soon, because they only wait or are over.
 */
export type Lane = 'reviews' | 'outcomes' | 'rest' | 'idle';
export const LANES: Lane[] = ['reviews', 'outcomes', 'rest', 'idle'];

/** Whether someone waits for the messages of this lane. */
export const isUrgent = (lane: Lane) => lane === 'reviews' || lane === 'outcomes';

/** Maximum entries of a lane. Later lines are read again when there is space. */
const MAX_ENTRIES = 10_000;
const FORGET_QUEUES = 1_000;
/** About one second's work. With more reviews in the lane, idle runs would cost the others time. */
const MANY = 100;
/** Too short to be noticed, long enough to merge a claim with its decision. */
const LINGER_MS = 250;
/** How long a job may wait without a workflow in a topic with `workflow: "when-needed"`. */
const OPTIONAL_MS = 1_000;

const hasNothingDue = (row: Change) => row.wake_at === null && !row.delivery_pending && !row.lacks_jurors;

/** Whether it is final and has no pending callback. */
export const isOver = (row: Change) => isFinal(row.state) && !row.delivery_pending;

/** Whether one that goes without a workflow may have got one from another follower, which waits for its end. */
export const mayRun = ({ row, needless, optional, reread }: Entry) =>
  needless === true && optional && reread && isOver(row);

/** Decides what may be sent now. */
interface Gate {
  /** Whether the lane may send more. */
  isOpen: (lane: Lane) => boolean;
  isSending: (key: string) => boolean;
  /** `performance.now()` before which an item's workflow accepts no message. */
  notBefore: (key: string) => number;
}

interface Queued {
  entry: Entry;
  class: number;
  at: number;
  no: number;
}

const sooner = (a: Queued, b: Queued) => a.class - b.class || a.at - b.at || a.no - b.no;
const earlier = (a: Queued, b: Queued) => a.entry.notBefore - b.entry.notBefore || a.no - b.no;

/** The unsent messages in memory, in the order of their urgency. */
export class Lanes {
  readonly #queued = new Map<string, Queued>();
  readonly #orders = new Map(LANES.map((lane) => [lane, new LaneOrder()]));
  readonly #idle: Allowance;
  readonly #pace: Pace;
  readonly #isNeedless: (entry: Entry) => boolean;
  #no = 0;
  /** Milliseconds until more may be sent; 0: nothing waits for time. */
  waitMs = 0;

  /**
   * @param idlePerSecond rate of items with nothing due, at present
   * @param pace rate of the last two lanes while there are callers
   * @param isNeedless whether an item needs no workflow, so that it counts against no rate
   */
  constructor(idlePerSecond: () => number, pace: Pace, isNeedless: (entry: Entry) => boolean) {
    this.#isNeedless = isNeedless;
    this.#idle = new Allowance(idlePerSecond, idlePerSecond());
    this.#pace = pace;
  }

  get size(): number {
    return this.#queued.size;
  }

  /** Whether it is worth reading more for a lane. */
  hasSpace = (lane: Lane) => this.#order(lane).size < MAX_ENTRIES / 2;

  clear(): void {
    this.#queued.clear();
    for (const lane of LANES) this.#orders.set(lane, new LaneOrder());
  }

  entries(): Entry[] {
    return [...this.#queued.values()].map(({ entry }) => entry);
  }

  queuedIn = (key: string): Lane | undefined => this.#queued.get(key)?.entry.lane;

  /** @param started whether its workflow is known to have been started */
  laneOf({ row, fresh, marked }: Publication, key: string, started: boolean): Lane {
    if (workflowOf(row.kind).urgent) return 'reviews';
    if (row.delivery_pending || row.lacks_jurors) return 'outcomes';
    const known = this.queuedIn(key);
    if (known && known !== 'idle') return 'rest';
    const unknown = fresh || known === 'idle' || marked !== undefined;
    return hasNothingDue(row) && unknown && !started ? 'idle' : 'rest';
  }

  /** @returns false when its lane has no space: it is to be read again later */
  add(key: string, lane: Lane, publication: Publication): boolean {
    const before = this.#queued.get(key);
    if (before?.entry.lane !== lane && this.#order(lane).size >= MAX_ENTRIES) return false;
    const now = performance.now();
    if (!before) this.#enlist({ ...publication, key, lane, readAt: now, notBefore: now + lingerMs(publication, lane) });
    else this.#enlist(merged(before.entry, publication, lane, now), before);
    return true;
  }

  /** Puts back an entry that could not be sent, below later ones. It may have arrived nevertheless, so it is not fresh. */
  putBack(entry: Entry): void {
    entry.fresh = false;
    const since = this.#queued.get(entry.key);
    if (!since) this.#enlist(entry);
    else {
      const { entry: later } = since;
      later.events = lastEvents(entry.events, later.events);
      later.position = Math.min(entry.position, later.position);
      later.fresh = false;
    }
  }

  /** Takes out the most urgent entry that time, rates and the gate allow, or undefined. */
  next(gate: Gate): Entry | undefined {
    this.waitMs = 0;
    for (const lane of LANES) {
      const order = this.#order(lane);
      order.wakeUp((queued) => this.#isQueued(queued));
      const found = gate.isOpen(lane) ? this.#nextOf(order, gate) : undefined;
      if (found) return found;
      this.#wait(order.waitMs());
    }
    return undefined;
  }

  #wait(ms: number): void {
    if (ms > 0) this.waitMs = this.waitMs === 0 ? ms : Math.min(this.waitMs, ms);
  }

  #nextOf(order: LaneOrder, { isSending, notBefore }: Gate): Entry | undefined {
    const passed: Queued[] = [];
    let found: Entry | undefined;
    while (!found) {
      const queued = order.ready.peek();
      if (!queued) break;
      if (!this.#isQueued(queued)) {
        order.ready.pop();
        continue;
      }
      if (order.putOff(queued, notBefore(queued.entry.key))) continue;
      const brief = queued.entry.lane === 'reviews' && order.ready.length > MANY;
      const entry = { ...queued.entry, needless: this.#isNeedless(queued.entry), brief };
      const rates = this.#ratesOf(entry);
      const waitMs = Math.max(0, ...rates.map((r) => r.waitMs()));
      this.#wait(waitMs);
      if (waitMs > 0) break;
      order.ready.pop();
      if (isSending(entry.key)) passed.push(queued);
      else {
        for (const rate of rates) rate.spend();
        if (queued.class !== DUE) order.served(queued.at);
        found = entry;
        this.#queued.delete(entry.key);
        order.size--;
      }
    }
    for (const queued of passed) order.ready.push(queued);
    return found;
  }

  #isQueued = (queued: Queued) => this.#queued.get(queued.entry.key) === queued;

  #enlist(entry: Entry, before?: Queued): void {
    const { row, key, lane } = entry;
    // An entry keeps its place however often it changes before it is sent. The lane "rest" is ordered by due time.
    if (before?.entry.lane === lane && lane !== 'rest') {
      before.entry = entry;
      return;
    }
    if (before) this.#order(before.entry.lane).size--;
    const order = this.#order(lane);
    const due = lane === 'rest' ? row.wake_at?.getTime() : undefined;
    const at = due ?? order.turn(`${row.kind}/${row.queue}`);
    const queued = { entry, class: due === undefined ? AFTER_DUE : DUE, at, no: this.#no++ };
    order.size++;
    this.#queued.set(key, queued);
    if (entry.notBefore > performance.now()) order.lingering.push(queued);
    else order.ready.push(queued);
    // Replaced entries stay until they reach the head; behind a head that waits they would accumulate.
    if (order.ready.length > 2 * order.size + 1_000) order.rebuild(this.#isQueued);
  }

  #ratesOf(entry: Entry): Allowance[] {
    const { lane, needless } = entry;
    if (needless) return mayRun(entry) ? [this.#pace] : [];
    if (isUrgent(lane)) return [];
    return lane === 'idle' ? [this.#idle, this.#pace] : [this.#pace];
  }

  #order = (lane: Lane) => this.#orders.get(lane) as LaneOrder;
}

const DUE = 1;
const AFTER_DUE = 2;

function lingerMs({ optional, marked }: Publication, lane: Lane): number {
  if (isUrgent(lane) || marked !== undefined) return 0;
  return optional ? OPTIONAL_MS : LINGER_MS;
}

/** In another lane only the later line counts, which is enough: the message is the item's current row. */
function merged(known: Entry, more: Publication, lane: Lane, now: number): Entry {
  // Versions of an earlier epoch belong to a database that has been restored since.
  const isNewer = more.epoch === known.epoch ? more.row.version >= known.row.version : more.epoch > known.epoch;
  const newer = isNewer ? { ...more, readAt: now } : known;
  return {
    ...newer,
    ...{ key: known.key, lane, fresh: known.fresh, reread: known.reread || more.reread, shard: known.shard },
    events: lastEvents(known.events, more.events),
    position: known.lane === lane ? Math.min(known.position, more.position) : more.position,
    marked: more.marked ?? known.marked,
    notBefore: lingerMs(more, lane) === 0 ? now : known.notBefore,
  };
}

/** The order of one lane. Queues take turns (start-time fair queuing): a thousand entries of one queue delay another's by one. */
class LaneOrder {
  ready = new TinyQueue<Queued>([], sooner);
  lingering = new TinyQueue<Queued>([], earlier);
  /** Entries of this lane. */
  size = 0;
  #turn = 0;
  readonly #last = new Map<string, number>();

  turn(queue: string): number {
    const turn = Math.max(this.#turn, this.#last.get(queue) ?? 0) + 1;
    this.#last.set(queue, turn);
    return turn;
  }

  served(turn: number): void {
    this.#turn = Math.max(this.#turn, turn);
    if (this.#last.size < FORGET_QUEUES) return;
    for (const [queue, last] of this.#last) if (last <= this.#turn) this.#last.delete(queue);
  }

  waitMs(): number {
    const first = this.lingering.peek();
    return first ? Math.max(1, Math.ceil(first.entry.notBefore - performance.now())) : 0;
  }

  /** Moves the head to the lingering entries if it has to wait until `until`. */
  putOff(queued: Queued, until: number): boolean {
    if (until <= performance.now()) return false;
    this.ready.pop();
    queued.entry.notBefore = until;
    this.lingering.push(queued);
    return true;
  }

  /** Makes the entries ready whose time to linger is over. */
  wakeUp(isQueued: (queued: Queued) => boolean): void {
    const now = performance.now();
    for (;;) {
      const first = this.lingering.peek();
      if (!first || first.entry.notBefore > now) return;
      this.lingering.pop();
      if (isQueued(first)) this.ready.push(first);
    }
  }

  rebuild(isQueued: (queued: Queued) => boolean): void {
    const kept: Queued[] = [];
    for (let queued = this.ready.pop(); queued; queued = this.ready.pop()) if (isQueued(queued)) kept.push(queued);
    this.ready = new TinyQueue(kept, sooner);
  }
}
