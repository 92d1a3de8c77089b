import TinyQueue from 'tinyqueue';

const FORGET_QUEUES = 1_000;
/** Classes: what is due at a time goes first. */
export const DUE = 1;
export const AFTER_DUE = 2;

interface Lingering {
  /** `performance.now()` before which it is not sent, because more may come. */
  notBefore: number;
}

/** An entry in its place: by class, then by `at`, then in the order in which they came. */
export interface Placed<E> {
  entry: E;
  class: number;
  at: number;
  no: number;
}

const sooner = (a: Placed<unknown>, b: Placed<unknown>) => a.class - b.class || a.at - b.at || a.no - b.no;
const earlier = (a: Placed<Lingering>, b: Placed<Lingering>) => a.entry.notBefore - b.entry.notBefore || a.no - b.no;

/** The order of one lane. Queues have their turns (start-time fair queuing): a thousand of one delay another's by one. */
export class LaneOrder<E extends Lingering> {
  ready = new TinyQueue<Placed<E>>([], sooner);
  lingering = new TinyQueue<Placed<E>>([], earlier);
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
  putOff(queued: Placed<E>, until: number): boolean {
    if (until <= performance.now()) return false;
    this.ready.pop();
    queued.entry.notBefore = until;
    this.lingering.push(queued);
    return true;
  }

  /** Those for which more has been waited for long enough. */
  wakeUp(isQueued: (queued: Placed<E>) => boolean): void {
    const now = performance.now();
    for (;;) {
      const first = this.lingering.peek();
      if (!first || first.entry.notBefore > now) return;
      this.lingering.pop();
      if (isQueued(first)) this.ready.push(first);
    }
  }

  rebuild(isQueued: (queued: Placed<E>) => boolean): void {
    const kept: Placed<E>[] = [];
    for (let queued = this.ready.pop(); queued; queued = this.ready.pop()) if (isQueued(queued)) kept.push(queued);
    this.ready = new TinyQueue(kept, sooner);
  }
}
