import type { Db } from '../db/pool.ts';
import { takeRefresh } from '../db/queues.ts';
import { adoptOutbox, beat, forgetTasks, leave, liveNodes, tidy } from '../db/runtime.ts';
import { kindOf } from '../domain/kinds.ts';
import { refreshCourt } from '../services/courts.ts';
import type { Invitations } from '../services/invitations.ts';
import { refreshQueue } from '../services/queues.ts';
import type { Rules } from '../services/rules.ts';
import type { Log } from './log.ts';
import type { Bus } from './notify.ts';
import type { AfterCommit } from './outbox/messages.ts';
import type { Relay } from './outbox/relay.ts';

const BEAT_MS = 5_000;
const SWEEP = 1_000;
const EACH_MINUTE = 12;

export interface KeeperOptions {
  db: Db;
  node: string;
  url: string | null;
  role: string;
  retentionDays: number;
  after: AfterCommit;
  relay: Relay;
  bus: Bus;
  rules: Rules;
  invitations: Invitations;
  log: Log;
}

/**
 * What a process does every 5 s beside its work: says that it lives, takes over the outbox of those
 * that don't, ends what a crash left half done, and tidies.
 */
export class Keeper {
  readonly #o: KeeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #rounds = 0;
  #stopped = false;

  constructor(options: KeeperOptions) {
    this.#o = options;
  }

  async start(): Promise<void> {
    await this.#round();
  }

  /** Leaves for good: others may take over at once what is still in the outbox. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#refreshing;
    await leave(this.#o.db, this.#o.node).catch(() => {});
  }

  async #round(): Promise<void> {
    this.#running = this.#keep().catch((error: Error) => {
      this.#o.log.warn({ err: error.message }, 'upkeep failed, trying again');
    });
    await this.#running;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#round(), BEAT_MS);
    this.#timer.unref();
  }

  async #keep(): Promise<void> {
    const { db, node, url, role, after, relay, bus, rules, invitations } = this.#o;
    await beat(db, node, url, role);
    bus.hasPeers = (await liveNodes(db)).length > 1;
    while (!this.#stopped) {
      const orphans = await adoptOutbox(db, node, SWEEP);
      relay.tell(orphans);
      if (orphans.length < SWEEP) break;
    }
    after(await rules.sweep());
    invitations.look();
    // not at once: what a lost answer left behind is rare
    if (this.#rounds++ % EACH_MINUTE === EACH_MINUTE - 1) {
      relay.lookBack();
      await forgetTasks(db, this.#o.retentionDays);
    }
    // beside the beat, which must go on while a million items are walked through
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await tidy(db);
  }

  async #refresh(): Promise<void> {
    const { db, after, relay, log } = this.#o;
    try {
      for (const queue of await takeRefresh(db)) {
        if (kindOf(queue.kind).court) await refreshCourt(db, after, queue.name);
        else await refreshQueue(this.#o, queue.kind, queue.name);
        relay.lookBack();
      }
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'changed settings could not be applied everywhere, trying again');
    }
  }
}
