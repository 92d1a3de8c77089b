import { randomBytes } from 'node:crypto';
import { OPEN_STATES } from '../../domain/items.ts';
import * as topics from '../../services/jobs/topics.ts';
import type { Context } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { type CommandName, isTube } from './protocol.ts';

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
    const found = await topics.counts(api.ctx);
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

/** This process's counts of a tube. Its jobs are counted in the database. */
export interface Tube {
  readonly name: string;
  using: number;
  watching: number;
  waiting: number;
  puts: number;
  deletes: number;
  pauses: number;
}

/** Tubes whose counts are kept at least, used or not. */
const MOST_IDLE = 10_000;

const newTube = (name: string): Tube => ({ name, using: 0, watching: 0, waiting: 0, puts: 0, deletes: 0, pauses: 0 });

/**
 * The tubes that exist. As in beanstalkd, a tube exists while it has jobs or a connection uses or watches it; `default`
 * always exists.
 */
export class Tubes {
  readonly #ctx: Context;
  readonly #tubes = new Map([['default', newTube('default')]]);
  /** Above so many tubes, those that no connection uses or watches are removed: clients choose the names. */
  #most = MOST_IDLE;
  /** Look-ups of tubes that are being created; concurrent connections share them. */
  readonly #opening = new Map<string, Promise<void>>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Adds a connection that uses or watches the tube. */
  async hold(name: string, as: 'using' | 'watching'): Promise<Tube> {
    const known = this.#tubes.get(name);
    if ((!known || !isReferenced(known)) && !this.#opening.has(name)) {
      const opening = this.#open(name).finally(() => this.#opening.delete(name));
      this.#opening.set(name, opening);
    }
    await this.#opening.get(name);
    const tube = this.counted(name);
    tube[as]++;
    return tube;
  }

  /** The counts of a tube, made if there are none. */
  counted(name: string): Tube {
    const known = this.#tubes.get(name);
    if (known) return known;
    if (this.#tubes.size >= this.#most) this.#forget();
    const tube = newTube(name);
    this.#tubes.set(name, tube);
    return tube;
  }

  async find(name: string): Promise<Tube | undefined> {
    const known = this.#tubes.get(name);
    if (known && isReferenced(known)) return known;
    if (await topics.isOpen(this.#ctx, name)) return this.counted(name);
    this.#tubes.delete(name);
    return undefined;
  }

  /**
   * The names of all tubes. Topics whose names no tube can have are left out, because clients parse the list.
   * @param counts of all topics, where they have been read already
   */
  async names(counts?: Map<string, topics.TopicCounts>): Promise<string[]> {
    const found = counts ?? (await topics.counts(this.#ctx));
    const isOpen = (n: topics.TopicCounts) => OPEN_STATES.some((state) => n[state]);
    const open = [...found].flatMap(([name, n]) => (isTube(name) && isOpen(n) ? [name] : []));
    const names = new Set(['default', ...open]);
    for (const [name, tube] of this.#tubes) {
      if (isReferenced(tube)) names.add(name);
      else if (!names.has(name)) this.#tubes.delete(name);
    }
    return [...names];
  }

  #forget(): void {
    for (const [name, tube] of this.#tubes) if (!isReferenced(tube)) this.#tubes.delete(name);
    this.#most = Math.max(MOST_IDLE, 2 * this.#tubes.size);
  }

  async #open(name: string): Promise<void> {
    if (!(await topics.isOpen(this.#ctx, name))) this.#tubes.delete(name);
  }
}

const isReferenced = (tube: Tube) => tube.name === 'default' || tube.using > 0 || tube.watching > 0;
