import { Lane } from './lane.ts';
import type { Checked, Misfit } from './thread.ts';

export type { Misfit };

/** What a check may take beside others, and what it may take among those who take long. */
const QUICK_MS = 1_000;
const SLOW_MS = 5_000;
/** For so long all checks of an owner are made among the slow ones, after one that was. */
const SLOW_FOR_MS = 600_000;
/** An owner's budget: so many checks that run out of time, within a minute. */
const MOST_OVERRUNS = 3;
const MINUTE_MS = 60_000;

/** A JSON Schema is invalid, or cannot be applied in time. */
export class SchemaError extends Error {
  /** The index of the schema; undefined: time or memory ran out. */
  readonly index: number | undefined;
  /** The owner's budget is used up: the check was not tried, and may be after this many seconds. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { index, retryAfter }: { index?: number; retryAfter?: number } = {}) {
    super(message);
    this.index = index;
    this.retryAfter = retryAfter;
  }
}

/**
 * Checks values against JSON Schemas written by callers, in threads of their own: a schema of a few lines can ask for
 * unbounded work (`$ref` that doubles at each step, thousands of keywords), and the event loop must not block. A check
 * that takes more than a second is ended with its thread and made again in a second lane, for five seconds at most, and
 * there its owner stays for a while: so an owner who is slow delays others by a second once, and then only the slow ones.
 * Patterns are RE2's, which take linear time.
 */
export class Schemas {
  readonly #quick = new Lane(QUICK_MS);
  readonly #slow = new Lane(SLOW_MS);
  /** When owners were found to be slow. */
  readonly #slowSince = new Map<string, number>();
  /** When checks of owners ran out of time. */
  readonly #overruns = new Map<string, number[]>();

  /**
   * @param owner takes turns with others, and has a budget: a queue's name
   * @returns for each value and each schema the mismatches; empty where the value fits
   * @throws SchemaError
   */
  async check(owner: string, schemas: object[], values: unknown[]): Promise<Misfit[][][]> {
    const job = { schemas: schemas.map((s) => JSON.stringify(s)), values };
    if (!this.#isSlow(owner)) {
      const checked = await this.#quick.run(owner, job);
      if (checked) return misfitsOf(checked);
      forgetOlder(this.#slowSince, SLOW_FOR_MS, (at) => at);
      this.#slowSince.set(owner, performance.now());
    }
    const checked = await this.#slow.run(owner, job, () => this.#needBudget(owner));
    if (checked) return misfitsOf(checked);
    forgetOlder(this.#overruns, MINUTE_MS, (all) => all.at(-1) ?? 0);
    this.#overruns.set(owner, [...(this.#overruns.get(owner) ?? []), performance.now()].slice(-MOST_OVERRUNS));
    throw new SchemaError('takes too much time or memory');
  }

  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#slow.close()]);
  }

  #isSlow(owner: string): boolean {
    const since = this.#slowSince.get(owner);
    return since !== undefined && performance.now() - since < SLOW_FOR_MS;
  }

  #needBudget(owner: string): void {
    const overruns = this.#overruns.get(owner) ?? [];
    const leftMs = (overruns[0] ?? 0) + MINUTE_MS - performance.now();
    if (overruns.length < MOST_OVERRUNS || leftMs <= 0) return;
    const message = 'was not tried: checks of this queue ran out of time too often within a minute';
    throw new SchemaError(message, { retryAfter: Math.ceil(leftMs / 1_000) });
  }
}

function misfitsOf(checked: Checked): Misfit[][][] {
  if ('wrong' in checked) throw new SchemaError(checked.message, { index: checked.wrong });
  return checked.misfits;
}

/** Names are callers': the map must not grow with them. */
function forgetOlder<T>(map: Map<string, T>, ms: number, at: (value: T) => number): void {
  const now = performance.now();
  for (const [name, value] of map) if (now - at(value) > ms) map.delete(name);
}
