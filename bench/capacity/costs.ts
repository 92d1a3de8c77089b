import { setTimeout as sleep } from 'node:timers/promises';
import { openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import { median, ms, short } from '../stats.ts';
import type { Gate } from './gate.ts';
import { KINDS, type Life, type LifeKind, newLife, type Step } from './kinds.ts';
import { type Meter, together, type Used } from './meter.ts';
import { type Cost, cpuOf, type Measured, type Point, type Transition, totalOf } from './model.ts';

export interface Sizes {
  /** Lives of each kind, on a machine that has little to do. */
  light: number;
  /** The same, on a busy one. */
  busy: number;
  idleSeconds: number;
}

/** What else a life of a kind leaves and takes. */
export interface Kept {
  /** Bytes in PostgreSQL, as compact as `vacuum full` leaves them. */
  postgres: number;
  /** Bytes of pages written whole, over its busy lives, since a checkpoint at their beginning. */
  pages: number;
}

/** Transitions a second while the machine has little to do. */
const LIGHT_PER_SECOND = 20;
/** Without a pause on a busy machine; as many as are needed for the rate on another. */
const CALLERS = 16;
/** What is done when a workflow has its message and its task still runs. */
const SETTLE_MS = 300;

/** What all steps of a number of lives used, by their names. */
interface Wave {
  lives: number;
  used: Map<string, Used[]>;
  /** Of a call to its answer, the median. */
  seconds: Map<string, number[]>;
}

/** Runs one kind after the other, one transition at a time. */
export class Costs {
  readonly #lab: Lab;
  readonly #meter: Meter;
  readonly #gate: Gate;
  readonly #url: string;
  readonly #idle: Cost;

  /** @param idle a second in which nothing is done, which no transition is charged with */
  constructor(lab: Lab, meter: Meter, gate: Gate, url: string, idle: Cost) {
    this.#lab = lab;
    this.#meter = meter;
    this.#gate = gate;
    this.#url = url;
    this.#idle = idle;
  }

  /** Compiled code and warm caches are what a server has that has run for a while. */
  async warmUp(lives: number): Promise<void> {
    const [caller] = await openCallers(this.#url, 1);
    for (const { kind } of KINDS) {
      if (caller) await kind.setUp(caller);
      await this.#wave(kind, lives);
    }
    caller?.close();
  }

  async measure({ light, busy }: Sizes): Promise<{ kinds: Measured['kinds']; kept: Record<string, Kept> }> {
    const kinds: Measured['kinds'] = {};
    const kept: Record<string, Kept> = {};
    for (const { kind } of KINDS) {
      // a case and a review have several calls of each sort
      const fewer = Math.ceil(kind.steps.length / 3);
      const sizes = [light, busy].map((lives) => Math.ceil(lives / fewer));
      const before = await bytesKept(this.#lab);
      await this.#lab.sql('checkpoint');
      const many = await this.#wave(kind, sizes[1] ?? 0);
      const few = await this.#wave(kind, sizes[0] ?? 0, LIGHT_PER_SECOND);
      const bytes = (await bytesKept(this.#lab)) - before;
      const lives = sizes.reduce((sum, n) => sum + n, 0);
      kinds[kind.name] = this.#transitionsOf(kind, few, many);
      kept[kind.name] = { postgres: bytes / lives, pages: together([...many.used.values()].flat()).pages / many.lives };
      this.#say(kind, kinds[kind.name] ?? []);
    }
    return { kinds, kept };
  }

  /** Each step by all lives, one step after the other, and what comes by itself after the last. */
  async #wave(kind: LifeKind, n: number, perSecond?: number): Promise<Wave> {
    const lives = Array.from({ length: n }, newLife);
    const wave: Wave = { lives: n, used: new Map(), seconds: new Map() };
    const add = <T>(map: Map<string, T[]>, name: string, one: T) => void map.set(name, [...(map.get(name) ?? []), one]);
    for (const step of kind.steps) {
      const stop = await this.#meter.start();
      add(wave.seconds, step.name, await byAll(this.#url, step, lives, perSecond));
      await this.#gate.passed();
      await sleep(SETTLE_MS);
      add(wave.used, step.name, await stop());
    }
    if (kind.end) {
      const stop = await this.#meter.start();
      await sleep(kind.end.ms);
      add(wave.used, kind.end.name, await stop());
    }
    return wave;
  }

  #transitionsOf(kind: LifeKind, light: Wave, busy: Wave): Transition[] {
    const called = [...new Set(kind.steps.map(({ name }) => name))].map((name): Transition => {
      const all = kind.steps.filter((step) => step.name === name);
      return {
        ...{ name, times: all.length, message: all[0]?.message ?? kind.message },
        seconds: median(light.seconds.get(name) ?? []),
        points: [this.#pointOf(light, name, 1), this.#pointOf(busy, name, CALLERS)],
      };
    });
    if (!kind.end) return called;
    const { name } = kind.end;
    const points = [this.#pointOf(light, name, 1), this.#pointOf(busy, name, 1)];
    return [...called, { name, times: 1, message: 'none', seconds: 0, points }];
  }

  #pointOf(wave: Wave, name: string, callers: number): Point {
    const all = wave.used.get(name) ?? [];
    const used = together(all);
    const net = (whole: number, aSecond: number) =>
      Math.max(0, whole - aSecond * used.seconds) / (all.length * wave.lives);
    return {
      ...{ together: callers, busy: used.busy },
      cpu: cpuOf((component) => net(used.cpu[component], this.#idle.cpu[component])),
      wal: net(used.wal, this.#idle.wal),
    };
  }

  #say({ name }: LifeKind, transitions: Transition[]): void {
    const parts = transitions.map((t) => {
      const [few, many] = t.points.map((point) => `${ms(totalOf(point.cpu) * 1000)} at ${short(point.busy)}`);
      return `${t.name} ${few}, ${many}`;
    });
    this.#lab.say(`  ${name}: ${parts.join('; ')}`);
  }
}

/** One step by all of these lives, so many a second, or without a pause. @returns seconds of a call, the median */
export async function byAll(url: string, step: Step, lives: Life[], perSecond = Number.POSITIVE_INFINITY) {
  const callers = await openCallers(url, Math.min(lives.length, CALLERS));
  const start = performance.now();
  const took: number[] = [];
  let next = 0;
  await Promise.all(
    callers.map(async (caller) => {
      for (let n = next++; n < lives.length; n = next++) {
        const wait = start + (n * 1000) / perSecond - performance.now();
        if (wait > 0) await sleep(wait);
        const from = performance.now();
        await step.call(caller, lives[n] as Life);
        took.push((performance.now() - from) / 1000);
      }
      caller.close();
    }),
  );
  return median(took);
}

/** A second in which nothing is done: the median of several, because one may have a checkpoint in it. */
export async function idleCost(meter: Meter, seconds: number): Promise<Cost> {
  const all: Used[] = [];
  for (let n = 0; n < 3; n++) {
    const stop = await meter.start();
    await sleep((seconds * 1000) / 3);
    all.push(await stop());
  }
  const each = (of: (used: Used) => number) => median(all.map((used) => of(used) / used.seconds));
  return {
    cpu: cpuOf((component) =>
      Math.max(
        0,
        each(({ cpu }) => cpu[component]),
      ),
    ),
    wal: each(({ wal }) => wal),
  };
}

async function bytesKept(lab: Lab): Promise<number> {
  await lab.sql('vacuum full');
  const [row] = await lab.sql<{ bytes: number }>(
    'select sum(pg_total_relation_size(relid))::double precision as bytes from pg_stat_user_tables',
  );
  return row?.bytes ?? 0;
}
