import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openDocket } from '../docket.ts';
import type { Lab } from '../lab.ts';
import { addAll, addRate, type Rate, warmUp, workRate } from '../measure.ts';
import type { Report } from '../report.ts';
import { ALL_RIVALS, withRivals } from '../rivals/index.ts';
import { type Queues, settle } from '../rivals/rival.ts';
import { median, ms, short } from '../stats.ts';

const CONCURRENCY = [1, 16, 64];
const MANY = 100;
const FSYNCS = 300;
/** How much more than was used up in the round before is there for the next one. */
const SPARE = 1.3;
const MEASURES = { add1: 'add', addMany: 'add', work1: 'pop + finish', workMany: 'pop + finish' } as const;

type Measure = keyof typeof MEASURES;
type Rates = Record<Measure, number[]>;
/** In what, and by how much. */
type Ahead = Map<Queues, string[]>;
const measures = Object.keys(MEASURES) as Measure[];
const isMany = (measure: Measure) => measure.endsWith('Many');
const isWork = (measure: Measure) => measure.startsWith('work');

/** How fast jobs are added, and popped and finished, over both doors and beside all rivals (scenario 7). */
export async function jobs(lab: Lab, report: Report): Promise<void> {
  const [rounds, seconds] = lab.quick ? [1, 2] : [3, 3];
  const ahead: Ahead = new Map();
  report.add({ what: 'one fsync of a small write', figure: `median ${ms(fsyncMs(lab))}` });
  await withRivals(lab, ALL_RIVALS, async (rivals) => {
    for (const n of CONCURRENCY) {
      const rates = new Map<string, Rates>();
      const turn = async (queues: Queues, round: number) => {
        const all = rates.get(queues.name) ?? { add1: [], addMany: [], work1: [], workMany: [] };
        rates.set(queues.name, all);
        await measure(queues, `jobs-${n}-${round}-${queues.name.replaceAll(/\W/g, '')}`, n, seconds, all);
        const last = measures.map((m) => `${labelOf(m)} ${short(all[m].at(-1) ?? Number.NaN)}`).join(', ');
        lab.say(`  ${n} callers, ${queues.name}: ${last} jobs/s`);
      };
      for (let round = 0; round < rounds; round++) {
        const docket = await openDocket(lab);
        try {
          for (const door of [docket.http, docket.tcp]) {
            await warmUp(door, 2 * seconds);
            await turn(door, round);
          }
        } finally {
          await docket.stop();
        }
        for (const rival of rivals) await turn(rival, round);
      }
      write(report, n, rivals, rates, ahead);
    }
    for (const [rival, where] of ahead)
      report.add({
        what: `${rival.name} is ahead`,
        figure: where.join('; '),
        rival: `it is lighter: ${rival.lighter}`,
      });
  });
}

/** How much a queue gains by sharing them: those that sync each write pay this for each. */
function fsyncMs(lab: Lab): number {
  const file = openSync(join(lab.dir, 'fsync'), 'w');
  const took = Array.from({ length: FSYNCS }, () => {
    writeSync(file, 'x'.repeat(200));
    const start = performance.now();
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return median(took);
}

async function measure(queues: Queues, topic: string, n: number, seconds: number, rates: Rates): Promise<void> {
  const note = (measure: Measure, { rate, jobs }: Rate) => {
    rates[measure].push(rate);
    return jobs;
  };
  let stock = note('add1', await addRate(queues, topic, n, 1, seconds));
  stock += note('addMany', await addRate(queues, topic, n, MANY, seconds));
  for (const measure of ['work1', 'workMany'] as const) {
    const batch = isMany(measure) ? MANY : 1;
    // where nothing is known yet: as fast as it adds in batches, which no queue here empties much faster
    const expected = rates[measure].at(-1) ?? rates[isMany(measure) ? 'addMany' : 'add1'].at(-1) ?? 0;
    const needed = Math.ceil(expected * SPARE * seconds);
    if (queues.fill) await queues.fill(`${topic}-${measure}`, needed, batch === 1 ? 1_000 : 5_000);
    else if (stock < needed) {
      await addAll(queues, topic, needed - stock);
      stock = needed;
    }
    await settle(queues);
    const done = await workRate(queues, queues.fill ? `${topic}-${measure}` : topic, n, batch, seconds);
    stock -= note(measure, done);
  }
  await queues.clear?.();
}

/** What single pops by 64 callers aim at, where it is not 1. */
const SINGLE: Record<string, number> = { 'pg-boss': 3, 'graphile-worker': 0.8 };
/** What adds in batches aim at beside pg-boss, which has no HTTP and keeps no history. */
const ADDED = 0.6;

const labelOf = (measure: Measure) => `${MEASURES[measure]}${isMany(measure) ? ` in batches of ${MANY}` : ''}`;

/** How many times as fast as a rival that has on disk what it acknowledges; undefined: no goal is set. */
function goalOf({ name, durable }: Queues, measure: Measure, callers: number): number | undefined {
  const rival = name.split(' ', 1)[0] ?? '';
  if (measure === 'addMany' && rival === 'pg-boss' && callers < 64) return ADDED;
  if (!durable || !isWork(measure)) return undefined;
  if (isMany(measure)) return 1;
  return callers === 64 ? (SINGLE[rival] ?? 1) : undefined;
}

function write(report: Report, n: number, rivals: Queues[], rates: Map<string, Rates>, ahead: Ahead): void {
  for (const m of measures) {
    const rate = (name: string) => median(rates.get(name)?.[m] ?? []);
    const what = `${labelOf(m)}, ${n} caller${n === 1 ? '' : 's'}`;
    for (const rival of rivals) {
      const ratio = rate('Docket') / rate(rival.name);
      if (ratio < 1) ahead.set(rival, [...(ahead.get(rival) ?? []), `${short(1 / ratio)}× in ${what}`]);
      const least = goalOf(rival, m, n);
      report.add({
        ...{ what, figure: `${short(rate('Docket'))} jobs/s`, rival: `${rival.name}: ${short(rate(rival.name))}/s` },
        ...{ ratio, ...(least !== undefined && { target: { least } }) },
      });
    }
    for (const { name } of rivals.filter((r) => r.name.startsWith('beanstalkd'))) {
      const tcp = rate('Docket over TCP');
      const figure = `${short(tcp)} jobs/s`;
      report.add({
        ...{ what: `${what}, over TCP`, figure },
        ...{ rival: `${name}: ${short(rate(name))}/s`, ratio: tcp / rate(name) },
      });
    }
  }
}
