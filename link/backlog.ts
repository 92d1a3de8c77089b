import TinyQueue from 'tinyqueue';
import type { ToldRow } from '../contract/items.ts';
import type { EventLine } from '../contract/snapshot.ts';
import { isFinal, lastEvents } from '../domain/items.ts';

/** What one item's workflow has not been told: merged until it is sent. */
export interface Entry {
  key: string;
  row: ToldRow;
  events: EventLine[];
  /** The outbox rows that this takes care of. */
  versions: number[];
  /** Nothing about this item was ever sent, so no workflow of it can exist. */
  fresh: boolean;
  byTick: boolean;
  /** `performance.now()` when `row` came. */
  heardAt: number;
}

export interface Heard {
  row: ToldRow;
  version: number;
  event: EventLine;
  fresh: boolean;
  byTick: boolean;
}

/** Sending order: the lower class first, inside it the sooner wake time, then the older. */
const CLASS = { telling: 0, due: 1, told: 2, ticked: 3, idle: 4 } as const;

interface Ticket {
  class: number;
  at: number;
  no: number;
  key: string;
}

const MAX_ENTRIES = 50_000;

const sooner = (a: Ticket, b: Ticket) => a.class - b.class || a.at - b.at || a.no - b.no;

/**
 * The relay's memory: what has to be sent, in the order in which it is worth most. Items with nothing
 * due come last and at a bounded rate, because a workflow that only waits helps nobody soon.
 */
export class Backlog {
  readonly #entries = new Map<string, Entry>();
  readonly #tickets = new Map<string, Ticket>();
  #order = new TinyQueue<Ticket>([], sooner);
  readonly #idle: Allowance;
  readonly #busy: Allowance;
  #no = 0;
  /** Milliseconds until a rate allows the next item; 0: nothing waits for that. */
  waitMs = 0;

  /**
   * @param idlePerSecond items with nothing due
   * @param busyPerSecond items of any sort while callers are busy, those with somebody to tell or to invite aside
   */
  constructor(idlePerSecond: number, busyPerSecond: number) {
    this.#idle = new Allowance(idlePerSecond, idlePerSecond);
    this.#busy = new Allowance(busyPerSecond, 1);
  }

  get size(): number {
    return this.#entries.size;
  }

  get roomy(): boolean {
    return this.#entries.size < MAX_ENTRIES / 2;
  }

  get full(): boolean {
    return this.#entries.size >= MAX_ENTRIES;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** @returns false when there is no room: the row stays in the outbox for later */
  add(key: string, heard: Heard): boolean {
    const known = this.#entries.get(key);
    if (!known && this.#entries.size >= MAX_ENTRIES) return false;
    const entry: Entry = known ?? {
      key,
      row: heard.row,
      events: [],
      versions: [],
      fresh: heard.fresh,
      byTick: heard.byTick,
      heardAt: performance.now(),
    };
    entry.events = lastEvents(entry.events, [heard.event]);
    entry.versions.push(heard.version);
    if (heard.row.version >= entry.row.version) {
      entry.row = heard.row;
      entry.byTick = heard.byTick;
      entry.heardAt = performance.now();
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
   * Takes out an item that began and ended before anybody was told: there is no workflow, and none is needed.
   * @returns its outbox rows, or undefined when it is not like that
   */
  takeMoot(key: string): number[] | undefined {
    const entry = this.#entries.get(key);
    if (!entry?.fresh || !isFinal(entry.row.state) || entry.row.telling) return undefined;
    this.#entries.delete(key);
    this.#tickets.delete(key);
    return entry.versions;
  }

  /** Takes out the entry worth most that is not being sent and that the rates allow, or undefined. */
  next(isSending: (key: string) => boolean, callersBusy: boolean): Entry | undefined {
    const sending: Ticket[] = [];
    let found: Entry | undefined;
    this.waitMs = 0;
    while (!found) {
      const ticket = this.#order.peek();
      if (!ticket) break;
      if (this.#tickets.get(ticket.key) !== ticket) {
        this.#order.pop();
        continue;
      }
      const rates = this.#ratesOf(ticket, callersBusy);
      this.waitMs = Math.max(0, ...rates.map((r) => r.waitMs()));
      if (this.waitMs > 0) break;
      this.#order.pop();
      if (isSending(ticket.key)) sending.push(ticket);
      else {
        for (const rate of rates) rate.spend();
        found = this.#take(ticket);
      }
    }
    for (const ticket of sending) this.#order.push(ticket);
    return found;
  }

  #enlist(entry: Entry): void {
    const { row } = entry;
    // somebody outside is to hear of it, and nobody but the workflow can tell him
    const outward = row.telling || row.inviting;
    const kind = outward
      ? CLASS.telling
      : row.wake_at
        ? CLASS.due
        : isFinal(row.state)
          ? CLASS.told
          : entry.byTick
            ? CLASS.ticked
            : CLASS.idle;
    const ticket = {
      class: kind,
      at: outward ? 0 : (row.wake_at?.getTime() ?? 0),
      no: this.#no++,
      key: entry.key,
    };
    this.#entries.set(entry.key, entry);
    this.#tickets.set(entry.key, ticket);
    this.#order.push(ticket);
    // tickets that were replaced stay in the order until they come up; behind a head that waits, they would pile up
    if (this.#order.length > 2 * this.#tickets.size + 1_000)
      this.#order = new TinyQueue([...this.#tickets.values()], sooner);
  }

  #take(ticket: Ticket): Entry | undefined {
    const entry = this.#entries.get(ticket.key);
    this.#entries.delete(ticket.key);
    this.#tickets.delete(ticket.key);
    return entry;
  }

  #ratesOf(ticket: Ticket, callersBusy: boolean): Allowance[] {
    const rates = ticket.class === CLASS.idle ? [this.#idle] : [];
    if (callersBusy && ticket.class !== CLASS.telling) rates.push(this.#busy);
    return rates;
  }
}

/** So many a second, and at most `most` at once. */
class Allowance {
  readonly #perSecond: number;
  readonly #most: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number, most: number) {
    this.#perSecond = perSecond;
    this.#most = Math.max(1, most);
    this.#left = this.#most;
  }

  /** Until the next one is allowed. */
  waitMs(): number {
    const now = performance.now();
    this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) / this.#perSecond) * 1000);
  }

  spend(): void {
    this.#left -= 1;
  }
}
