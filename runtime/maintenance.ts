import type { Db } from '../db/pool.ts';
import type { Follower } from './followers/follower.ts';
import type { Log } from './log.ts';
import type { Bus } from './notify.ts';
import { Repeating } from './repeating.ts';

const BEAT_MS = 5_000;
/** Runs ANALYZE and deletes expired rows. */
const TIDYING = [
  ...(['refresh_statistics', 'unpark', 'forget_notices', 'forget_nodes', 'forget_sessions'] as const),
  ...(['forget_juror_days', 'forget_reviewer_days'] as const),
  ...(['forget_drafts', 'forget_commands', 'forget_admin_log', 'compact_tally'] as const),
];

export interface MaintenanceOptions {
  db: Db;
  node: string;
  url: string | null;
  role: string;
  follower: Follower | undefined;
  bus: Bus;
  log: Log;
}

/**
 * The chores of a process every 5 s: its heartbeat, the ownership of its shards, repairs after crashes, and cleaning up. A
 * chore that is slow or fails delays neither the heartbeat nor other chores.
 */
export class Maintenance {
  readonly #o: MaintenanceOptions;
  readonly #chores: Repeating[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: MaintenanceOptions) {
    this.#o = options;
    this.add(() => this.#tidy());
  }

  /** Runs `chore` in each round, never twice at once; one that fails is tried again in the next round. */
  add(chore: () => Promise<void> | void): void {
    this.#chores.push(new Repeating(async () => chore(), this.#failed));
  }

  async start(): Promise<void> {
    await this.#round();
  }

  /** Deletes the heartbeat, if this process has written one. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    await Promise.all(this.#chores.map((chore) => chore.stop()));
    await this.#o.db.run('leave', { id: this.#o.node }).catch(() => {});
  }

  async #round(): Promise<void> {
    this.#running = this.#work().catch(this.#failed);
    await this.#running;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#round(), BEAT_MS);
    this.#timer.unref();
  }

  async #work(): Promise<void> {
    const { db, node, url, role, follower, bus } = this.#o;
    await db.run('beat', { id: node, url, role, follows: follower?.isRunning ?? false });
    bus.hasPeers = (await db.run('live_nodes')).length > 1;
    follower?.keep();
    for (const chore of this.#chores) chore.run();
  }

  /** Runs the chores one after the other: callers need the connections. */
  async #tidy(): Promise<void> {
    for (const name of TIDYING) await this.#o.db.run(name).catch(this.#failed);
  }

  #failed = (error: Error): void => {
    this.#o.log.warn({ err: error.message }, 'maintenance failed, trying again');
  };
}
