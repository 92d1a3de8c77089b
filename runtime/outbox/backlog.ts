import TinyQueue from 'tinyqueue';
import type { Change } from '../../contract/items.ts';
import type { EventLine } from '../../contract/snapshot.ts';
import { isFinal, lastEvents } from '../../domain/items.ts';
import { workflowOf } from '../../domain/kinds.ts';
import { Allowance } from './allowance.ts';

/** What one item's workflow has not received: merged until it is sent. */
export interface Entry {
  key: string;
  row: Change;
  events: EventLine[];
  /** The outbox rows that this takes care of. */
  versions: number[];
  /** Nothing about this item was ever sent, so no workflow of it can exist. */
  fresh: boolean;
  byTime: boolean;
  /** `performance.now()` when `row` came. */
  changedAt: number;
}

/** A change to be published, with its outbox row. */
export type Publication = Pick<Entry, 'row' | 'fresh' | 'byTime'> & { version: number; event: EventLine };

/**
 * What is sent beside each other, so that none waits for another: callbacks of audits, outcomes that a receiver waits
 * for (and cases that lack jurors), and the rest, which the database's own clock does without the workflow.
 */
export type Lane = 'reviews' | 'outcomes' | 'rest';
export const LANES: Lane[] = ['reviews', 'outcomes', 'rest'];

export const laneOf = ({ kind, telling, inviting }: Change): Lane =>
  workflowOf(kind).urgent ? 'reviews' : telling || inviting ? 'outcomes' : 'rest';

/** Sending order of the rest: the lower class first, inside it the sooner wake time, then queues in turn. */
const CLASS = { due: 1, final: 2, ticked: 3, idle: 4 } as const;

interface Queued {
  lane: Lane;
  class: number;
  at: number;
  no: number;
  key: string;
}

/** Of each lane. More stays in the outbox, and is read again when there is space. */
const MAX_ENTRIES = 10_000;
const FORGET_QUEUES = 1_000;

const sooner = (a: Queued, b: Queued) => a.class - b.class || a.at - b.at || a.no - b.no;

/**
 * The relay's memory: what has to be sent, in the order in which it is worth most. Items with nothing
 * due come last and at a bounded rate, because a workflow that only waits is not needed soon.
 */
export class Backlog {
  readonly #entries = new Map<string, Entry>();
  readonly #queued = new Map<string, Queued>();
  readonly #lanes = new Map(LANES.map((lane) => [lane, new LaneOrder()]));
  readonly #idle: Allowance;
  readonly #busy: Allowance;
  #no = 0;
  /** Milliseconds until a rate allows the next item; 0: nothing waits for that. */
  waitMs = 0;

  /**
   * @param idlePerSecond items with nothing due
   * @param busyPerSecond items of the rest while callers are busy
   */
  constructor(idlePerSecond: number, busyPerSecond: number) {
    this.#idle = new Allowance(idlePerSecond, idlePerSecond);
    this.#busy = new Allowance(busyPerSecond, 1);
  }

  get size(): number {
    return this.#entries.size;
  }

  get roomy(): boolean {
    return LANES.every((lane) => this.#lane(lane).size < MAX_ENTRIES / 2);
  }

  get full(): boolean {
    return LANES.some((lane) => this.#lane(lane).size >= MAX_ENTRIES);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** @returns false when its lane has no capacity left: the row stays in the outbox for later */
  add(key: string, publication: Publication): boolean {
    const known = this.#entries.get(key);
    if (!known && this.#lane(laneOf(publication.row)).size >= MAX_ENTRIES) return false;
    const entry: Entry = known ?? {
      key,
      row: publication.row,
      events: [],
      versions: [],
      fresh: publication.fresh,
      byTime: publication.byTime,
      changedAt: performance.now(),
    };
    entry.events = lastEvents(entry.events, [publication.event]);
    entry.versions.push(publication.version);
    if (publication.row.version >= entry.row.version) {
      entry.row = publication.row;
      entry.byTime = publication.byTime;
      entry.changedAt = performance.now();
    }
    this.#enlist(entry);
    return true;
  }

  /** Puts back what could not be sent, under what came since. It may have arrived all the same: not fresh any more. */
  putBack(entry: Entry): void {
    entry.fresh = false;
    const since = this.#entries.get(entry.key);
    if (since) {
      since.events = lastEvents(entry.events, since.events);
      since.versions.push(...entry.versions);
      since.fresh = false;
    }
    this.#enlist(since ?? entry);
  }

  /**
   * Takes out an item that began and ended before its first message was sent: there is no workflow, and none is needed.
   * @returns its outbox rows, or undefined when it is not like that
   */
  takeSuperseded(key: string): number[] | undefined {
    const entry = this.#entries.get(key);
    if (!entry?.fresh || !isFinal(entry.row.state) || entry.row.telling) return undefined;
    this.#remove(key);
    return entry.versions;
  }

  /**
   * Takes out the entry worth most that is not being sent and that the rates allow, or undefined.
   * @param isOpen whether more of a lane may be sent now
   */
  next(isOpen: (lane: Lane) => boolean, isSending: (key: string) => boolean, callersBusy: boolean): Entry | undefined {
    this.waitMs = 0;
    for (const lane of LANES) {
      if (!isOpen(lane)) continue;
      const found = this.#nextOf(this.#lane(lane), isSending, callersBusy);
      if (found) return found;
    }
    return undefined;
  }

  #nextOf(lane: LaneOrder, isSending: (key: string) => boolean, callersBusy: boolean): Entry | undefined {
    const passed: Queued[] = [];
    let found: Entry | undefined;
    while (!found) {
      const queued = lane.order.peek();
      if (!queued) break;
      if (this.#queued.get(queued.key) !== queued) {
        lane.order.pop();
        continue;
      }
      const rates = this.#ratesOf(queued, callersBusy);
      this.waitMs = Math.max(0, ...rates.map((r) => r.waitMs()));
      if (this.waitMs > 0) break;
      lane.order.pop();
      if (isSending(queued.key)) passed.push(queued);
      else {
        for (const rate of rates) rate.spend();
        if (queued.class !== CLASS.due) lane.served(queued.at);
        found = this.#remove(queued.key);
      }
    }
    for (const queued of passed) lane.order.push(queued);
    return found;
  }

  #enlist(entry: Entry): void {
    const { row, key } = entry;
    const lane = laneOf(row);
    const before = this.#queued.get(key);
    this.#entries.set(key, entry);
    // one of the first two lanes keeps its position, however often it changes before it is sent
    if (before?.lane === lane && lane !== 'rest') return;
    if (before) this.#lane(before.lane).size--;
    const order = this.#lane(lane);
    const at = (lane === 'rest' ? row.wake_at?.getTime() : undefined) ?? order.turn(`${row.kind}/${row.queue}`);
    const queued = { lane, class: lane === 'rest' ? classOf(entry) : 0, at, no: this.#no++, key };
    order.size++;
    this.#queued.set(key, queued);
    order.order.push(queued);
    // entries that were replaced stay in the order until they come up; after a head that waits, they would accumulate
    if (order.order.length > 2 * order.size + 1_000)
      order.order = new TinyQueue(
        [...this.#queued.values()].filter((p) => p.lane === lane),
        sooner,
      );
  }

  #remove(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    const queued = this.#queued.get(key);
    if (queued) this.#lane(queued.lane).size--;
    this.#entries.delete(key);
    this.#queued.delete(key);
    return entry;
  }

  #ratesOf(queued: Queued, callersBusy: boolean): Allowance[] {
    if (queued.lane !== 'rest') return [];
    return [...(queued.class === CLASS.idle ? [this.#idle] : []), ...(callersBusy ? [this.#busy] : [])];
  }

  #lane = (lane: Lane) => this.#lanes.get(lane) as LaneOrder;
}

function classOf({ row, byTime }: Entry): number {
  if (row.wake_at) return CLASS.due;
  if (isFinal(row.state)) return CLASS.final;
  return byTime ? CLASS.ticked : CLASS.idle;
}

/** The order of one lane. Queues have their turns (start-time fair queuing): a thousand of one delay another's by one. */
class LaneOrder {
  order = new TinyQueue<Queued>([], sooner);
  /** Entries that wait in this lane. */
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
}
