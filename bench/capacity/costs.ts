import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import { median, ms, short } from '../stats.ts';
import type { Gate } from './gate.ts';
import { KINDS, type Life, type LifeKind, newLife, type Step } from './kinds.ts';
import { busyOf, type Meter, together, type Used } from './meter.ts';
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
const LIGHT_CALLERS = 16;
/** Each waits for its workflow before it goes on, so more than calls at once. */
const BUSY_CALLERS = 128;
/** Callers without a pause, for lives that have no workflow to wait for. */
const QUICK_CALLERS = 16;
/** What is done when a workflow has its message and its task still runs. */
const SETTLE_MS = 300;

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
      await this.#wave(kind, lives, true);
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
      const many = await this.#wave(kind, sizes[1] ?? 0, true);
      const few = await this.#wave(kind, sizes[0] ?? 0, false);
      const bytes = (await bytesKept(this.#lab)) - before;
      const lives = sizes.reduce((sum, n) => sum + n, 0);
      kinds[kind.name] = this.#transitionsOf(kind, sizes, few, many);
      kept[kind.name] = { postgres: bytes / lives, pages: together([...many.values()].flat()).pages / (sizes[1] ?? 1) };
      this.#say(kind, kinds[kind.name] ?? []);
    }
    return { kinds, kept };
  }

  /** Each step by all lives, one step after the other. @returns what was used, by the name of the step */
  async #wave(kind: LifeKind, n: number, busy: boolean): Promise<Map<string, Used[]>> {
    const all = Array.from({ length: n }, newLife);
    const used = new Map<string, Used[]>();
    const add = (name: string, one: Used) => void used.set(name, [...(used.get(name) ?? []), one]);
    for (const step of kind.steps) {
      const stop = await this.#meter.start();
      await (busy ? this.#atOnce(kind, step, all) : this.#paced(step, all));
      await this.#gate.passed();
      await sleep(SETTLE_MS);
      add(step.name, await stop());
    }
    if (!kind.end) return used;
    const stop = await this.#meter.start();
    await sleep(kind.end.ms);
    add(kind.end.name, await stop());
    return used;
  }

  async #atOnce({ workflow }: LifeKind, step: Step, all: Life[]): Promise<void> {
    const callers = await openCallers(this.#url, Math.min(all.length, workflow ? BUSY_CALLERS : QUICK_CALLERS));
    let next = 0;
    await Promise.all(
      callers.map(async (caller) => {
        for (let life = all[next++]; life; life = all[next++]) {
          await step.call(caller, life);
          if (workflow) await this.#gate.passed();
        }
        caller.close();
      }),
    );
  }

  async #paced(step: Step, all: Life[]): Promise<void> {
    const callers = await openCallers(this.#url, Math.min(all.length, LIGHT_CALLERS));
    const start = performance.now();
    let next = 0;
    await Promise.all(
      callers.map(async (caller) => {
        for (let n = next++; n < all.length; n = next++) {
          await sleep(Math.max(0, start + (n * 1000) / LIGHT_PER_SECOND - performance.now()));
          await step.call(caller, all[n] as Life);
        }
        caller.close();
      }),
    );
  }

  #transitionsOf(kind: LifeKind, sizes: number[], ...waves: Map<string, Used[]>[]): Transition[] {
    const names = [...new Set([...kind.steps.map((step) => step.name), ...(kind.end ? [kind.end.name] : [])])];
    return names.map((name) => ({
      name,
      times: kind.steps.filter((step) => step.name === name).length || 1,
      points: waves.map((wave, n) => this.#pointOf(wave.get(name) ?? [], sizes[n] ?? 1)),
    }));
  }

  #pointOf(waves: Used[], lives: number): Point {
    const used = together(waves);
    const each = waves.length * lives;
    const net = (whole: number, aSecond: number) => Math.max(0, whole - aSecond * used.seconds) / each;
    return {
      busy: busyOf(used, cpus().length),
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
