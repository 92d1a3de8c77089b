import type { Item } from '../../contract/items.ts';
import { giveBack, type Reservation } from '../../services/jobs/popping.ts';
import type { Context } from '../../services/shared/service.ts';
import type { Listener, Tube } from './listener.ts';
import type { Reader } from './protocol.ts';

/** A job this close to the end of its TTR makes a reserve answer DEADLINE_SOON, in milliseconds. */
const MARGIN_MS = 1_000;

interface Held extends Reservation {
  /** By this process's clock, for DEADLINE_SOON only. The reservation ends by the database's clock. */
  endsAtMs: number;
}

/** The reservations of one connection. The protocol has no tokens, so they are kept here. */
class Reservations {
  readonly #held = new Map<number, Held>();

  add(item: Pick<Item, 'id' | 'seq' | 'lease_id' | 'expires_at' | 'updated_at'>): void {
    const leftMs = (item.expires_at?.getTime() ?? 0) - item.updated_at.getTime();
    this.#held.set(item.seq, { id: item.id, token: item.lease_id ?? '', endsAtMs: performance.now() + leftMs });
  }

  get = (number: number): Reservation | undefined => this.#held.get(number);

  remove = (number: number): boolean => this.#held.delete(number);

  all = (): Reservation[] => [...this.#held.values()];

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

export class Session {
  readonly listener: Listener;
  readonly ctx: Context;
  readonly reader: Reader;
  readonly reservations = new Reservations();
  /** This connection's name in the histories of its jobs. */
  readonly holder: string;
  using: Tube;
  watching: Tube[];
  /** The client has sent all it will; it may still read. */
  halfClosed = false;
  /** Nothing can be sent any more. */
  gone = false;
  readonly #roles = new Set<'producers' | 'workers'>();
  #waiting: AbortController | undefined;

  private constructor(listener: Listener, reader: Reader, holder: string, using: Tube, watching: Tube) {
    this.listener = listener;
    this.ctx = listener.api.ctx;
    this.reader = reader;
    this.holder = holder;
    this.using = using;
    this.watching = [watching];
    listener.connections++;
    listener.connectionsEver++;
  }

  static async open(listener: Listener, reader: Reader, holder: string): Promise<Session> {
    const using = await listener.tubes.hold('default', 'using');
    return new Session(listener, reader, holder, using, await listener.tubes.hold('default', 'watching'));
  }

  /** Counted as a producer from the first put on, as a worker from the first reserve on. */
  become(role: 'producers' | 'workers'): void {
    if (this.#roles.has(role)) return;
    this.#roles.add(role);
    this.listener[role]++;
  }

  /**
   * Runs a wait for a job. The signal fires when the client closes its connection, or its half of it. Each wait has its own
   * signal, because listeners would pile up on one for the whole connection.
   */
  async wait<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const tubes = this.watching;
    this.#waiting = new AbortController();
    this.listener.waiting++;
    for (const tube of tubes) tube.waiting++;
    try {
      return await work(this.#waiting.signal);
    } finally {
      for (const tube of tubes) tube.waiting--;
      this.listener.waiting--;
      this.#waiting = undefined;
    }
  }

  hangUp(how: 'half' | 'whole'): void {
    this.halfClosed = true;
    if (how === 'whole') this.gone = true;
    this.#waiting?.abort();
  }

  /** Makes all jobs that this connection has reserved ready again at once (S3.8). */
  async close(): Promise<void> {
    try {
      await giveBack(this.ctx, this.reservations.all());
    } catch (error) {
      const { log } = this.listener.api.ctx;
      log.warn({ err: (error as Error).message }, 'reservations of a closed connection end with their TTR');
    }
    this.using.using--;
    for (const tube of this.watching) tube.watching--;
    for (const role of this.#roles) this.listener[role]--;
    this.listener.connections--;
  }
}
