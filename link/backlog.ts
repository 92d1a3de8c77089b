import TinyQueue from 'tinyqueue';
import type { Item } from '../contract/items.ts';
import type { EventLine } from '../contract/snapshot.ts';
import { isFinal, lastEvents } from '../domain/items.ts';

/** What one item's workflow has not been told: merged until it is sent. */
export interface Entry {
  key: string;
  row: Item;
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
  row: Item;
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

/**
 * The relay's memory: what has to be sent, in the order in which it is worth most. Items with nothing
 * due come last and at a bounded rate, because a workflow that only waits helps nobody soon.
 */
export class Backlog {
  readonly #entries = new Map<string, Entry>();
  readonly #tickets = new Map<string, Ticket>();
  readonly #order = new TinyQueue<Ticket>([], (a, b) => a.class - b.class || a.at - b.at || a.no - b.no);
  readonly #perSecond: number;
  #allowance: number;
  #countedAt = performance.now();
  #no = 0;
  /** Milliseconds until an idle item may be sent; 0: nothing waits for that. */
  waitMs = 0;

  constructor(idlePerSecond: number) {
    this.#perSecond = idlePerSecond;
    this.#allowance = idlePerSecond;
  }

  get size(): number {
    return this.#entries.size;
  }

  get roomy(): boolean {
    return this.#entries.size < MAX_ENTRIES / 2;
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

  /** Takes out the entry worth most that is not being sent, or undefined. */
  next(isBusy: (key: string) => boolean): Entry | undefined {
    const busy: Ticket[] = [];
    let found: Entry | undefined;
    this.waitMs = 0;
    while (!found) {
      const ticket = this.#order.peek();
      if (!ticket) break;
      if (this.#tickets.get(ticket.key) !== ticket) {
        this.#order.pop();
        continue;
      }
      if (ticket.class === CLASS.idle && !this.#allowed()) break;
      this.#order.pop();
      if (isBusy(ticket.key)) busy.push(ticket);
      else found = this.#take(ticket);
    }
    for (const ticket of busy) this.#order.push(ticket);
    return found;
  }

  #enlist(entry: Entry): void {
    const { row } = entry;
    const kind = row.telling
      ? CLASS.telling
      : row.wake_at
        ? CLASS.due
        : isFinal(row.state)
          ? CLASS.told
          : entry.byTick
            ? CLASS.ticked
            : CLASS.idle;
    const ticket = { class: kind, at: row.wake_at?.getTime() ?? 0, no: this.#no++, key: entry.key };
    this.#entries.set(entry.key, entry);
    this.#tickets.set(entry.key, ticket);
    this.#order.push(ticket);
  }

  #take(ticket: Ticket): Entry | undefined {
    if (ticket.class === CLASS.idle) this.#allowance -= 1;
    const entry = this.#entries.get(ticket.key);
    this.#entries.delete(ticket.key);
    this.#tickets.delete(ticket.key);
    return entry;
  }

  #allowed(): boolean {
    const now = performance.now();
    this.#allowance = Math.min(this.#perSecond, this.#allowance + ((now - this.#countedAt) / 1000) * this.#perSecond);
    this.#countedAt = now;
    if (this.#allowance >= 1) return true;
    this.waitMs = Math.ceil(((1 - this.#allowance) / this.#perSecond) * 1000);
    return false;
  }
}
