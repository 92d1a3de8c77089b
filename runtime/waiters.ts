/** A caller's place among those who wait for a queue. Taken before the first claim, so that no wake-up falls between. */
export interface Seat {
  /** Resolves true when there may be something, false at the deadline or when the caller has gone. */
  woken(untilMs: number, signal: AbortSignal): Promise<boolean>;
  /** What came of the wake-up: in vain for this caller, the next one may be luckier. */
  pass(found: boolean): void;
  leave(): void;
}

interface Place {
  tried: number;
  called: boolean;
  /** Called by the slow poll, not because something became free. */
  polled: boolean;
  wake: (() => void) | undefined;
  /** Ends the wait with nothing. */
  give: (() => void) | undefined;
}

interface Line {
  round: number;
  /** In which of the slow poll's steps it has its turn. */
  turn: number;
  /** Steps from one turn to the next. */
  every: number;
  places: Set<Place>;
}

/**
 * Long polls. `ready(n)` wakes n of those who wait, not all; who finds nothing for himself (skills,
 * exclusions) passes the wake-up on, so that in each round everybody is asked at most once.
 */
export class Waiters {
  readonly #lines = new Map<string, Line>();
  #closed = false;
  readonly #watchers = new Set<(queue: string) => void>();

  get size(): number {
    let n = 0;
    for (const line of this.#lines.values()) n += line.places.size;
    return n;
  }

  take(queue: string): Seat {
    const line = this.#lines.get(queue) ?? newLine(queue);
    this.#lines.set(queue, line);
    const place: Place = { tried: line.round, called: false, polled: false, wake: undefined, give: undefined };
    line.places.add(place);
    return {
      woken: (untilMs, signal) => (this.#closed ? Promise.resolve(false) : wait(place, untilMs, signal)),
      // a slow poll that found something looks for more; one that found nothing ends there
      pass: (found) => {
        if (found === place.polled) this.#call(line, 1, place.polled);
      },
      leave: () => {
        line.places.delete(place);
        // called but gone: somebody else must come in its stead
        if (place.called) this.#call(line, 1, place.polled);
        if (line.places.size === 0) this.#lines.delete(queue);
      },
    };
  }

  /** A place in several lines at once: whichever is called first. */
  takeAny(queues: string[]): Seat {
    const seats = queues.map((queue) => this.take(queue));
    let called: Seat[] = [];
    return {
      async woken(untilMs, signal) {
        const others = new AbortController();
        const either = AbortSignal.any([signal, others.signal]);
        const answers = await Promise.all(
          seats.map(async (seat) => {
            const woken = await seat.woken(untilMs, either);
            others.abort();
            return woken;
          }),
        );
        called = seats.filter((_, n) => answers[n]);
        return called.length > 0;
      },
      // one look serves one call: what else was called meanwhile is for somebody else
      pass: (found) => called.forEach((seat, n) => void seat.pass(found && n === 0)),
      leave: () => seats.forEach((seat) => void seat.leave()),
    };
  }

  /** `n` items of a queue have become free. */
  ready(queue: string, n: number): void {
    for (const watch of this.#watchers) watch(queue);
    const line = this.#lines.get(queue);
    if (!line) return;
    line.round++;
    this.#call(line, n, false);
  }

  /** In every line one of those who wait has a look: wake-ups may have been lost. */
  poll(): void {
    for (const line of this.#lines.values()) this.#poll(line);
  }

  /** One step of the slow poll beside the wake-ups, in which each line has its turn by and by. */
  pollSome(step: number): void {
    for (const line of this.#lines.values()) if (step % line.every === line.turn) this.#poll(line);
  }

  #poll(line: Line): void {
    line.round++;
    this.#call(line, 1, true);
  }

  /** Nobody waits any longer: the process is about to end. */
  close(): void {
    this.#closed = true;
    for (const line of this.#lines.values()) for (const place of line.places) place.give?.();
  }

  /** Calls back for every queue that gets something to hand out. */
  watch(callback: (queue: string) => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  #call(line: Line, n: number, polled: boolean): void {
    let left = n;
    for (const place of [...line.places]) {
      if (left === 0) return;
      if (place.called || place.tried >= line.round) continue;
      place.tried = line.round;
      place.called = true;
      place.polled = polled;
      // to the end of the line, so that the next call asks somebody else first
      line.places.delete(place);
      line.places.add(place);
      place.wake?.();
      left--;
    }
  }
}

/** Steps of the slow poll in which every line has its turn once. */
export const POLL_STEPS = 10;
/** Where each waits in a line of his own there are thousands of lines; he looks by himself each time he begins to wait. */
const OWN = /^task\/uid_/;
const SELDOM = 12;

function newLine(queue: string): Line {
  const every = OWN.test(queue) ? SELDOM * POLL_STEPS : POLL_STEPS;
  return { round: 0, turn: Math.floor(Math.random() * every), every, places: new Set() };
}

function wait(place: Place, untilMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), Math.max(0, untilMs - performance.now()));
    const gone = () => done(false);
    const done = (woken: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
      place.wake = undefined;
      place.give = undefined;
      if (woken) place.called = false;
      resolve(woken);
    };
    place.wake = () => done(true);
    place.give = gone;
    signal.addEventListener('abort', gone, { once: true });
    if (signal.aborted) gone();
    else if (place.called) done(true);
  });
}
