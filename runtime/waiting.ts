import { setMaxListeners } from 'node:events';
import type { Load } from './load.ts';

/** Signals that a caller has gone: an AbortSignal, or an object that creates one only for listeners. */
export type Gone = Pick<AbortSignal, 'aborted' | 'addEventListener' | 'removeEventListener'>;

/** A caller who waits at one or several keys. Registered before the first look, so that no wake-up is missed. */
interface Waiter {
  /** Resolves true on a wake-up, false at the deadline or when the caller has gone. */
  woken(untilMs: number, signal: Gone): Promise<boolean>;
  /** Reports the result of a wake-up: one that found no work wakes the next waiter. */
  pass(found: boolean): void;
  leave(): void;
}

interface Entry {
  tried: number;
  called: boolean;
  /** Called by the slow poll, not because something became free. */
  polled: boolean;
  wake: (() => void) | undefined;
  /** Ends the wait with nothing. */
  give: (() => void) | undefined;
}

interface WaitQueue {
  round: number;
  /** The step of the slow poll in which it is polled. */
  turn: number;
  /** Steps from one poll to the next. */
  every: number;
  entries: Set<Entry>;
}

export interface Wait {
  /** The keys to wait at, `kind/queue`. Read again after each look: the caller may have been moved to another group. */
  keys: () => string[];
  /** 0: look once. */
  seconds: number;
  signal: Gone;
  /** If this caller finds nothing, no other would: the wake-up is not passed on. */
  findsAll?: boolean;
}

/**
 * Long polls. `ready(n)` wakes n waiters, not all. A waiter that finds nothing for itself (skills, exclusions) passes the
 * wake-up on, so that a round asks each waiter at most once; a waiter with `findsAll` ends the round.
 */
export class Waiters {
  readonly #queues = new Map<string, WaitQueue>();
  readonly #watchers = new Set<(key: string) => void>();
  readonly #load: Load;
  #closed = false;

  constructor(load: Load) {
    this.#load = load;
  }

  get size(): number {
    let n = 0;
    for (const queue of this.#queues.values()) n += queue.entries.size;
    return n;
  }

  /**
   * Looks for work, and while there is none, waits for a wake-up and looks again (S0.3, S3.1, S4.3).
   * @param look returns undefined where there is nothing for this caller
   * @returns the result of `look`, or undefined when the time is over or the caller has gone
   */
  async waitFor<T>(
    { keys, seconds, signal, findsAll = false }: Wait,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const until = performance.now() + seconds * 1000;
    let at = keys();
    let waiter = seconds > 0 ? this.#register(at) : undefined;
    try {
      for (let woken = false; !signal.aborted; woken = true) {
        const found = await look();
        if (woken && !(findsAll && found === undefined)) waiter?.pass(found !== undefined);
        if (found !== undefined || !waiter) return found;
        const now = keys();
        if (now.join('\n') !== at.join('\n')) {
          waiter.leave();
          waiter = this.#register(now);
          at = now;
          continue;
        }
        const waiting = waiter;
        if (!(await this.#load.resting(() => waiting.woken(until, signal)))) return undefined;
      }
      return undefined;
    } finally {
      waiter?.leave();
    }
  }

  /** `n` items of a queue have become free. */
  ready(key: string, n: number): void {
    for (const watch of this.#watchers) watch(key);
    const queue = this.#queues.get(key);
    if (!queue) return;
    queue.round++;
    this.#call(queue, n, false);
  }

  /** Wakes one waiter of each queue, because wake-ups may have been lost. */
  poll(): void {
    for (const queue of this.#queues.values()) this.#poll(queue);
  }

  /** One step of the slow poll: wakes one waiter of each queue whose turn it is. */
  pollSome(step: number): void {
    for (const queue of this.#queues.values()) if (step % queue.every === queue.turn) this.#poll(queue);
  }

  /** Calls back for every queue in which an item becomes free. @returns a function that ends the subscription */
  watch(callback: (key: string) => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  /** Ends all waits, because the process stops. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) for (const entry of queue.entries) entry.give?.();
  }

  #register(keys: string[]): Waiter {
    const [only, ...more] = keys.map((key) => this.#enter(key));
    return only && more.length === 0 ? only : firstOf([...(only ? [only] : []), ...more]);
  }

  #enter(key: string): Waiter {
    const queue = this.#queues.get(key) ?? newQueue(key);
    this.#queues.set(key, queue);
    const entry: Entry = { tried: queue.round, called: false, polled: false, wake: undefined, give: undefined };
    queue.entries.add(entry);
    return {
      woken: (untilMs, signal) => (this.#closed ? Promise.resolve(false) : wait(entry, untilMs, signal)),
      // A slow poll that found work wakes another waiter; one that found none ends there.
      pass: (found) => {
        if (found === entry.polled) this.#call(queue, 1, entry.polled);
      },
      leave: () => {
        queue.entries.delete(entry);
        // Woken but gone: another waiter takes the turn.
        if (entry.called) this.#call(queue, 1, entry.polled);
        if (queue.entries.size === 0) this.#queues.delete(key);
      },
    };
  }

  #poll(queue: WaitQueue): void {
    queue.round++;
    this.#call(queue, 1, true);
  }

  #call(queue: WaitQueue, n: number, polled: boolean): void {
    let left = n;
    for (const entry of [...queue.entries]) {
      if (left === 0) return;
      if (entry.called || entry.tried >= queue.round) continue;
      entry.tried = queue.round;
      entry.called = true;
      entry.polled = polled;
      // to the end, so that the next call asks another waiter first
      queue.entries.delete(entry);
      queue.entries.add(entry);
      entry.wake?.();
      left--;
    }
  }
}

/** Waits at several keys: the first wake-up ends the wait. */
function firstOf(waiters: Waiter[]): Waiter {
  let called: Waiter[] = [];
  return {
    async woken(untilMs, signal) {
      const others = new AbortController();
      // by default Node warns of more than ten
      setMaxListeners(waiters.length, others.signal);
      const end = () => others.abort();
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      const answers = await Promise.all(
        waiters.map(async (waiter) => {
          const woken = await waiter.woken(untilMs, others.signal);
          end();
          return woken;
        }),
      );
      signal.removeEventListener('abort', end);
      called = waiters.filter((_, n) => answers[n]);
      return called.length > 0;
    },
    // One look answers one wake-up; the others are passed on.
    pass: (found) => called.forEach((waiter, n) => void waiter.pass(found && n === 0)),
    leave: () => waiters.forEach((waiter) => void waiter.leave()),
  };
}

/** Steps of the slow poll in which every queue has its turn once. */
export const POLL_STEPS = 10;
/** Queues of single users: there may be thousands, so they are polled seldom; each user looks when its wait begins. */
const OWN = /^task\/uid_/;
const SELDOM = 12;

function newQueue(key: string): WaitQueue {
  const every = OWN.test(key) ? SELDOM * POLL_STEPS : POLL_STEPS;
  return { round: 0, turn: Math.floor(Math.random() * every), every, entries: new Set() };
}

function wait(entry: Entry, untilMs: number, signal: Gone): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), Math.max(0, untilMs - performance.now()));
    const gone = () => done(false);
    const done = (woken: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
      entry.wake = undefined;
      entry.give = undefined;
      if (woken) entry.called = false;
      resolve(woken);
    };
    entry.wake = () => done(true);
    entry.give = gone;
    signal.addEventListener('abort', gone, { once: true });
    if (signal.aborted) gone();
    else if (entry.called) done(true);
  });
}
