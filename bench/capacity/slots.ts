import { setTimeout as sleep } from 'node:timers/promises';
import { openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import { byAll } from './costs.ts';
import type { Gate } from './gate.ts';
import { newLife, review, ticket } from './kinds.ts';
import { type Meter, together, type Used } from './meter.ts';

/** How fast one follower publishes a backlog. */
export interface Publishing {
  /** Messages a second. */
  rate: number;
  /** How busy the cores were meanwhile. */
  busy: number;
}

/** Within a second after an audit a follower has one message of the rest under way, else four. */
const AUDIT_MS = 400;
const LOOK_MS = 100;
/** The begin and the end of a backlog are left out: not all is written, or not all slots are in use. */
const [FROM, TO] = [0.9, 0.1];

/**
 * Lives of tickets as in a wave, with nothing held back by callers, who have done all before it is published.
 * @param audits whether callbacks of a review come all the time
 */
export async function publishing(lab: Lab, meter: Meter, gate: Gate, url: string, n: number, audits: boolean) {
  const lives = Array.from({ length: n }, newLife);
  const rates: number[] = [];
  const used: Used[] = [];
  const stop = audits ? await auditing(url) : async () => {};
  for (const step of ticket.steps) {
    await byAll(url, step, lives);
    const done = await meter.start();
    rates.push(await backlogRate(lab));
    used.push(await done());
    await gate.passed();
  }
  await stop();
  // as many of each: the mean time of a message
  const seconds = rates.reduce((sum, rate) => sum + 1 / rate, 0) / rates.length;
  return { rate: 1 / seconds, busy: together(used).busy };
}

/** Lines a second by which what is not published gets less, by least squares. */
async function backlogRate(lab: Lab): Promise<number> {
  const seen: { at: number; waiting: number }[] = [];
  for (let waiting = Number.POSITIVE_INFINITY; waiting > 0; await sleep(LOOK_MS)) {
    const at = performance.now() / 1000;
    waiting = (await lab.db.run('publishing_lag'))[0]?.waiting ?? 0;
    seen.push({ at, waiting });
  }
  const most = Math.max(...seen.map((s) => s.waiting));
  const between = seen.filter(({ waiting }) => waiting <= most * FROM && waiting >= most * TO);
  const mean = (of: (s: (typeof seen)[number]) => number) =>
    between.reduce((sum, s) => sum + of(s), 0) / between.length;
  const [at, waiting] = [mean((s) => s.at), mean((s) => s.waiting)];
  return -mean((s) => (s.at - at) * (s.waiting - waiting)) / mean((s) => (s.at - at) ** 2);
}

/** Callbacks for one review after the other. @returns what ends them */
async function auditing(url: string): Promise<() => Promise<void>> {
  const [caller] = await openCallers(url, 1);
  let over = false;
  const audits = (async () => {
    while (caller && !over) {
      const life = newLife();
      for (const step of review.steps) {
        await step.call(caller, life);
        await sleep(AUDIT_MS);
      }
    }
    caller?.close();
  })();
  return async () => {
    over = true;
    await audits;
  };
}
