import { returnJobs } from '../../db/tubes.ts';
import type { Door } from './door.ts';
import type { Reader } from './reader.ts';
import { Reservations } from './reservations.ts';
import type { Tube } from './tubes.ts';

/** What one connection has said and reserved so far. */
export class Session {
  readonly door: Door;
  readonly reader: Reader;
  readonly reservations = new Reservations();
  /** As which its jobs' histories name this connection. */
  readonly holder: string;
  using: Tube;
  watching: Tube[];
  /** The client has sent all it will; it may still read. */
  halfClosed = false;
  /** Nothing can be sent any more. */
  gone = false;
  readonly #roles = new Set<'producers' | 'workers'>();
  #waiting: AbortController | undefined;

  private constructor(door: Door, reader: Reader, holder: string, using: Tube, watching: Tube) {
    this.door = door;
    this.reader = reader;
    this.holder = holder;
    this.using = using;
    this.watching = [watching];
    door.connections++;
    door.connectionsEver++;
  }

  static async open(door: Door, reader: Reader, holder: string): Promise<Session> {
    const using = await door.tubes.hold('default', 'using');
    return new Session(door, reader, holder, using, await door.tubes.hold('default', 'watching'));
  }

  /** Counted as a producer from the first put on, as a worker from the first reserve on. */
  become(role: 'producers' | 'workers'): void {
    if (this.#roles.has(role)) return;
    this.#roles.add(role);
    this.door[role]++;
  }

  /**
   * Runs what waits for a job; the signal ends it when the client hangs up, or half of it. One signal for
   * each wait: on one for the whole connection every wait would leave something behind.
   */
  async wait<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const tubes = this.watching;
    this.#waiting = new AbortController();
    this.door.waiting++;
    for (const tube of tubes) tube.waiting++;
    try {
      return await work(this.#waiting.signal);
    } finally {
      for (const tube of tubes) tube.waiting--;
      this.door.waiting--;
      this.#waiting = undefined;
    }
  }

  hangUp(how: 'half' | 'whole'): void {
    this.halfClosed = true;
    if (how === 'whole') this.gone = true;
    this.#waiting?.abort();
  }

  /** Everything that this connection has reserved is ready again at once (S3.8). */
  async close(): Promise<void> {
    const { db, log } = this.door.api.runtime;
    try {
      const held = this.reservations.all();
      if (held.length > 0) await returnJobs(db, held, false);
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'reservations of a closed connection end with their TTR');
    }
    this.door.tubes.drop(this.using, 'using');
    for (const tube of this.watching) this.door.tubes.drop(tube, 'watching');
    for (const role of this.#roles) this.door[role]--;
    this.door.connections--;
  }
}
