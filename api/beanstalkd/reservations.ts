import type { Item } from '../../contract/items.ts';
import type { Reservation } from '../../db/jobs.ts';

/** A job this close to the end of its TTR makes a reserve answer DEADLINE_SOON, in milliseconds. */
const MARGIN_MS = 1_000;

interface Held extends Reservation {
  /** On this process's own clock: only DEADLINE_SOON goes by it, the reservation itself by the database's. */
  endsAtMs: number;
}

/** What one connection has reserved: beanstalkd has no tokens, so the connection keeps them. */
export class Reservations {
  readonly #held = new Map<number, Held>();

  add(item: Item): void {
    const leftMs = (item.expires_at?.getTime() ?? 0) - item.updated_at.getTime();
    this.#held.set(item.seq, { id: item.id, token: item.lease_id ?? '', endsAtMs: performance.now() + leftMs });
  }

  get(number: number): Reservation | undefined {
    return this.#held.get(number);
  }

  remove(number: number): void {
    this.#held.delete(number);
  }

  all(): Reservation[] {
    return [...this.#held.values()].map(({ id, token }) => ({ id, token }));
  }

  /** Milliseconds until a reserve has to answer DEADLINE_SOON; 0: now. */
  soonMs(): number {
    const now = performance.now();
    let soonest = Number.POSITIVE_INFINITY;
    for (const [number, { endsAtMs }] of this.#held)
      if (endsAtMs < now) this.#held.delete(number);
      else soonest = Math.min(soonest, endsAtMs);
    return Math.max(0, soonest - now - MARGIN_MS);
  }
}
