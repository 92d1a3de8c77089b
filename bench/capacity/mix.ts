import { setTimeout as sleep } from 'node:timers/promises';
import { openShared, type Shared } from '../cases/court.ts';
import { dice } from '../dice.ts';
import type { Gate } from './gate.ts';
import { KINDS, type LifeKind, newLife } from './kinds.ts';
import type { Meter, Used } from './meter.ts';
import type { Rates } from './model.ts';

/** Lives under way at once, each of which waits for its workflow after each call: more than the machine can serve. */
const AT_ONCE = 224;
/** Between two calls of a life at a rate: longer than the workflow needs to receive the first. */
const PAUSE_MS = 1_500;
const SPREAD_MS = 500;
const CONNECTIONS = 64;

export interface Mixed extends Used {
  /** Whole lives a second. */
  rate: number;
  /** By kind. */
  rates: Rates;
  /** Seconds that a workflow waited for its message at most. */
  behind: number;
}

interface Span {
  /** Seconds before what counts: reviews' workflows end ten seconds after the last callback. */
  warm: number;
  seconds: number;
}

/** Lives of all kinds in their shares, spread over these APIs. */
export class Mix {
  readonly #meter: Meter;
  readonly #makeGate: () => Gate;
  readonly #apis: Shared[];
  readonly #draw = dice(17);
  /** Lives begun, by kind. */
  readonly #begun = new Map<LifeKind, number>();
  #next = 0;
  /** Lives that are over, by kind. */
  #over = new Map<string, number>();

  private constructor(meter: Meter, makeGate: () => Gate, apis: Shared[]) {
    this.#meter = meter;
    this.#makeGate = makeGate;
    this.#apis = apis;
  }

  static async open(meter: Meter, makeGate: () => Gate, urls: string[]): Promise<Mix> {
    return new Mix(meter, makeGate, await Promise.all(urls.map((url) => openShared(url, CONNECTIONS / urls.length))));
  }

  close(): void {
    for (const api of this.#apis) api.close();
  }

  /** As many as the machine can do: a new life begins when one is over. */
  async closedLoop(span: Span): Promise<Mixed> {
    const gate = this.#makeGate();
    let stopped = false;
    const slot = async (n: number) => {
      // not all begin at once
      await sleep((n * 5_000) / AT_ONCE);
      const between = async () => {
        await gate.passed();
        // the gate opens for many at once, who would share statements as callers don't
        await sleep(this.#draw() * SPREAD_MS);
      };
      while (!stopped) await this.#live(this.#someKind(), between);
    };
    const slots = Promise.all(Array.from({ length: AT_ONCE }, (_, n) => slot(n)));
    const mixed = await Promise.race([this.#count(span, gate), slots.then(() => Promise.reject(new Error('over')))]);
    stopped = true;
    await slots;
    await gate.passed();
    await gate.close();
    return mixed;
  }

  /** So many lives begin each second, whatever comes of the others. */
  async openLoop(rate: number, span: Span): Promise<Mixed> {
    const gate = this.#makeGate();
    const lives: Promise<void>[] = [];
    const failures: Error[] = [];
    let stopped = false;
    const begin = async () => {
      const start = performance.now();
      for (let n = 0; !stopped; n++) {
        await sleep(Math.max(0, start + (n * 1000) / rate - performance.now()));
        const life = this.#live(this.#someKind(), () => sleep(PAUSE_MS));
        lives.push(life.catch((error: Error) => void failures.push(error)));
      }
    };
    const beginning = begin();
    const mixed = await this.#count(span, gate);
    stopped = true;
    await beginning;
    await Promise.all(lives);
    if (failures[0]) throw failures[0];
    await gate.passed();
    await gate.close();
    return mixed;
  }

  async #count({ warm, seconds }: Span, gate: Gate): Promise<Mixed> {
    await sleep(warm * 1000);
    this.#over.clear();
    gate.behind = 0;
    const stop = await this.#meter.start();
    await sleep(seconds * 1000);
    const over = new Map(this.#over);
    const used = await stop();
    const rates = Object.fromEntries([...over].map(([kind, n]) => [kind, n / used.seconds]));
    const rate = Object.values(rates).reduce((sum, each) => sum + each, 0);
    return { ...used, rate, rates, behind: gate.behind };
  }

  /** One life, each call at the next API. */
  async #live(kind: LifeKind, between: () => Promise<unknown>): Promise<void> {
    const life = newLife();
    for (const [n, step] of kind.steps.entries()) {
      const api = this.#apis[this.#next++ % this.#apis.length] as Shared;
      await api((caller) => step.call(caller, life));
      if (n < kind.steps.length - 1) await between();
    }
    this.#over.set(kind.name, (this.#over.get(kind.name) ?? 0) + 1);
  }

  /** The kind that is furthest behind its share. */
  #someKind(): LifeKind {
    const lag = ({ kind, share }: (typeof KINDS)[number]) => ((this.#begun.get(kind) ?? 0) + 1) / share;
    const { kind } = KINDS.reduce((first, other) => (lag(other) < lag(first) ? other : first));
    this.#begun.set(kind, (this.#begun.get(kind) ?? 0) + 1);
    return kind;
  }
}
