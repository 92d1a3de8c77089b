import TinyQueue from 'tinyqueue';
import type { Change } from '../../contract/items.ts';
import { isFinal, lastEvents } from '../../domain/items.ts';
import { workflowOf } from '../../domain/kinds.ts';
import { Allowance } from './allowance.ts';
import type { Publication } from './messages.ts';
import type { Pace } from './pace.ts';

/** What one item's workflow has to receive: merged until it is sent. */
export interface Entry extends Publication {
  key: string;
  lane: Lane;
  /** `performance.now()` when `row` was read. */
  readAt: number;
  /** It goes without a workflow. */
  needless?: boolean;
  /** So many wait in its lane that its workflow is not to stay once nothing is left to do; of reviews only. */
  brief?: boolean;
  /** `performance.now()` before which it is not sent, because more may come. */
  notBefore: number;
}

/**
 * What is sent beside each other, so that none waits for another: callbacks of audits; outcomes that a receiver waits
 * for, and cases that lack jurors; the rest, which the database's own clock does without the workflow; and items of which
 * there is no workflow yet and which need none soon, because they only wait or are over.
 */
export type Lane = 'reviews' | 'outcomes' | 'rest' | 'idle';
export const LANES: Lane[] = ['reviews', 'outcomes', 'rest', 'idle'];

/** Of each lane. More is read again when there is space. */
const MAX_ENTRIES = 10_000;
const FORGET_QUEUES = 1_000;
/** Reviews that are about a second's work: beyond, the others would wait for what runs that stay cost. */
const MANY = 100;
/** So long no one sees the difference, and a claim that is decided meanwhile is one message. */
const LINGER_MS = 250;
/** As long as a job may wait without a workflow where its topic needs none. */
const OPTIONAL_MS = 1_000;

const hasNothingDue = (row: Change) => row.wake_at === null && !row.telling && !row.inviting;

/** Whether it is final, and no callback of it is pending. */
export const isOver = (row: Change) => isFinal(row.state) && !row.telling;

/** Whether one that goes without a workflow may have got one from another follower, which waits for its end. */
export const mayRun = ({ row, needless, optional, reread }: Entry) =>
  needless === true && optional && reread && isOver(row);

/** What may be sent at this moment. */
interface Gate {
  /** Whether more of a lane may be. */
  isOpen: (lane: Lane) => boolean;
  isSending: (key: string) => boolean;
  /** `performance.now()` before which an item's workflow takes nothing. */
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

/** What has to be sent, in memory, in the order in which it is worth most. */
export class Lanes {
  readonly #queued = new Map<string, Queued>();
  readonly #orders = new Map(LANES.map((lane) => [lane, new LaneOrder()]));
  readonly #idle: Allowance;
  readonly #pace: Pace;
  readonly #isNeedless: (entry: Entry) => boolean;
  #no = 0;
  /** Milliseconds until something more may be sent; 0: nothing waits for time. */
  waitMs = 0;

  /**
   * @param idlePerSecond items with nothing due
   * @param pace of the last two lanes, beside callers
   * @param isNeedless whether an item goes without a workflow: no rate is spent on it
   */
  constructor(idlePerSecond: number, pace: Pace, isNeedless: (entry: Entry) => boolean) {
    this.#isNeedless = isNeedless;
    this.#idle = new Allowance(idlePerSecond, idlePerSecond);
    this.#pace = pace;
  }

  get size(): number {
    return this.#queued.size;
  }

  /** Whether it is worth reading more for a lane. */
  isRoomy = (lane: Lane) => this.#order(lane).size < MAX_ENTRIES / 2;

  clear(): void {
    this.#queued.clear();
    for (const lane of LANES) this.#orders.set(lane, new LaneOrder());
  }

  entries(): Entry[] {
    return [...this.#queued.values()].map(({ entry }) => entry);
  }

  /** The lane in which an item's message is queued. */
  queuedIn = (key: string): Lane | undefined => this.#queued.get(key)?.entry.lane;

  /** @param started whether there is a workflow of it, as far as known */
  laneOf({ row, fresh, marked }: Publication, key: string, started: boolean): Lane {
    if (workflowOf(row.kind).urgent) return 'reviews';
    if (row.telling || row.inviting) return 'outcomes';
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

  /** Puts back what could not be sent, under what came since. It may have arrived all the same: not fresh any more. */
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

  /** Takes out the entry worth most that time, rates and the gate allow, or undefined. */
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
    // it keeps its place, however often it changes before it is sent; the rest goes by what is due
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
    // entries that were replaced stay until they come up; after a head that waits, they would accumulate
    if (order.ready.length > 2 * order.size + 1_000) order.rebuild(this.#isQueued);
  }

  #ratesOf(entry: Entry): (Allowance | Pace)[] {
    const { lane, needless } = entry;
    if (needless) return mayRun(entry) ? [this.#pace] : [];
    return [...(lane === 'idle' ? [this.#idle] : []), ...(lane === 'rest' || lane === 'idle' ? [this.#pace] : [])];
  }

  #order = (lane: Lane) => this.#orders.get(lane) as LaneOrder;
}

const DUE = 1;
const AFTER_DUE = 2;

function lingerMs({ optional, marked }: Publication, lane: Lane): number {
  if (lane === 'reviews' || lane === 'outcomes' || marked !== undefined) return 0;
  return optional ? OPTIONAL_MS : LINGER_MS;
}

/** In another lane only the later line is taken care of, which is enough: what is sent is the item as it is. */
function merged(known: Entry, more: Publication, lane: Lane, now: number): Entry {
  // versions of an earlier epoch are of a database that was restored since
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

/** The order of one lane. Queues have their turns (start-time fair queuing): a thousand of one delay another's by one. */
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

  /** Takes out the next one where it has to wait, until then. */
  putOff(queued: Queued, until: number): boolean {
    if (until <= performance.now()) return false;
    this.ready.pop();
    queued.entry.notBefore = until;
    this.lingering.push(queued);
    return true;
  }

  /** Those for which more has been waited for long enough. */
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
