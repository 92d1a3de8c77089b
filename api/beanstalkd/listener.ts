import { randomBytes } from 'node:crypto';
import { counts } from '../../services/jobs/topics.ts';
import type { Api } from '../api.ts';
import type { CommandName } from './protocol.ts';
import { Tubes } from './tubes.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Margin after a pause: the database's clock ends it, and an earlier attempt would find no job. */
const AFTER_PAUSE_MS = 5;

/** State that all connections to one process share. Its counters start with the process. */
export class Listener {
  readonly api: Api;
  readonly tubes: Tubes;
  readonly commands = new Map<CommandName, number>();
  readonly id = randomBytes(8).toString('hex');
  readonly startedAt = performance.now();
  connections = 0;
  connectionsEver = 0;
  producers = 0;
  workers = 0;
  waiting = 0;
  puts = 0;
  /** Reservations of all processes that had expired before this one started: `job-timeouts` counts from there. */
  readonly timeoutsBefore: number;
  /** No more jobs are accepted (SIGUSR1); everything else goes on. */
  draining = false;
  readonly #pauses = new Map<string, NodeJS.Timeout>();

  private constructor(api: Api, timeoutsBefore: number) {
    this.api = api;
    this.tubes = new Tubes(api.ctx);
    this.timeoutsBefore = timeoutsBefore;
  }

  static async open(api: Api): Promise<Listener> {
    const found = await counts(api.ctx);
    return new Listener(
      api,
      [...found.values()].reduce((n, of) => n + (of.lease_expired ?? 0), 0),
    );
  }

  count(command: CommandName): void {
    this.commands.set(command, (this.commands.get(command) ?? 0) + 1);
  }

  /**
   * Wakes all waiters of a tube when its pause ends, in all processes. If this process stops, the slow poll does it.
   * @param seconds from now
   */
  wakeAfterPause(tube: string, seconds: number): void {
    clearTimeout(this.#pauses.get(tube));
    this.#pauses.delete(tube);
    const endsAt = performance.now() + seconds * 1000 + (seconds > 0 ? AFTER_PAUSE_MS : 0);
    const wait = () => {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) {
        this.#pauses.delete(tube);
        this.api.ctx.wakeAll(`job/${tube}`);
      } else this.#pauses.set(tube, setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS)).unref());
    };
    wait();
  }

  stop(): void {
    for (const timer of this.#pauses.values()) clearTimeout(timer);
    this.#pauses.clear();
  }
}
