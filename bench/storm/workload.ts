import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../test/support/client.ts';
import type { Journal, Op } from './journal.ts';

/** Longer than any answer of a healthy system, and than what a call may wait. */
const TIMEOUT_MS = 6_000;
const MOST_AT_ONCE = 200;
const LATER_MS = 20_000;

/**
 * The clients of a storm. Producers call at their own pace, whatever comes back (open loop); those who are handed something work
 * on it one after the other. `draining`: nothing new is added, and what is there is brought to its end.
 */
export class Workload {
  readonly journal: Journal;
  readonly roll: () => number;
  readonly callback: { url: string; secret: string };
  readonly servers: { http: () => string; tcp: () => number }[];
  /** Whether adds of jobs have keys, and work is checked: releases before 0.3 refuse both. */
  readonly keys: boolean;
  draining = false;
  over = false;
  readonly #loops: Promise<void>[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #drawn = 0;

  constructor(o: Pick<Workload, 'keys' | 'journal' | 'roll' | 'callback' | 'servers'>) {
    this.keys = o.keys;
    this.journal = o.journal;
    this.roll = o.roll;
    this.callback = o.callback;
    this.servers = o.servers;
  }

  /** One of them. */
  pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.roll() * all.length)] as T;
  }

  chance(of: number): boolean {
    return this.roll() < of;
  }

  name(prefix: string): string {
    return `${prefix}${this.#drawn++}`;
  }

  /** The id of one of the last items that were added by calls of this name. */
  recent(what: string, most: number): string | undefined {
    const added = this.journal.ops.filter((op) => op.what === what && op.outcome === 'ok').slice(-most);
    return this.pick(added)?.args.id;
  }

  /**
   * Calls any server, once. The journal has the call and its answer.
   * @param endpoint method and path
   */
  async call(actor: string, what: string, args: Json, endpoint: string, body: Json): Promise<Op> {
    const op = this.journal.begin(actor, what, args);
    const [method = '', path = ''] = endpoint.split(' ');
    try {
      const response = await fetch(this.pick(this.servers).http() + path, {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      const answer: Json = await response.json();
      // the commands of jobs say in their body what became of them
      const refused = response.status >= 400 || answer.success === false;
      const outcome = response.status >= 500 ? 'unknown' : refused ? 'refused' : 'ok';
      return this.journal.end(op, outcome, response.status, answer);
    } catch (error) {
      return this.journal.end(op, 'unknown', 0, (error as Error).name);
    }
  }

  /** Repeats a call while its outcome is not known, as a careful client does; now and then it gives up. */
  async insist(...call: Parameters<Workload['call']>): Promise<Op> {
    for (;;) {
      const op = await this.call(...call);
      if (op.outcome !== 'unknown' || this.over || (!this.draining && this.chance(0.1))) {
        await this.#repeat(call);
        return op;
      }
      await sleep(100 + this.roll() * 400);
    }
  }

  /** Sends an answered call again, at once or much later: it must not count twice. */
  async #repeat(call: Parameters<Workload['call']>): Promise<void> {
    if (this.chance(0.03)) await this.call(...call);
    if (this.chance(0.01)) void this.#later(call);
  }

  async #later(call: Parameters<Workload['call']>): Promise<void> {
    await sleep(LATER_MS, undefined, { ref: false });
    if (!this.over) this.#begin(this.call(...call));
  }

  /** Calls `work` on average so often while the storm lasts. */
  produce(perSecond: number, work: () => Promise<unknown>): void {
    this.#loops.push(
      (async () => {
        while (!this.draining && !this.over) {
          await sleep((-Math.log(1 - this.roll()) * 1000) / perSecond);
          if (this.#underWay.size < MOST_AT_ONCE) this.#begin(work());
        }
      })(),
    );
  }

  /** Does `work` again and again to the end. @param work whether there was something to do */
  repeat(work: () => Promise<boolean>): void {
    this.#loops.push(
      (async () => {
        while (!this.over) if (!(await work())) await sleep(200 + this.roll() * 200);
      })(),
    );
  }

  /** Ends all loops, and waits for the calls that are under way. */
  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#underWay);
  }

  #begin(work: Promise<unknown>): void {
    const done = work.finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }
}
