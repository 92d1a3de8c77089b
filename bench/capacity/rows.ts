import type { Line, Report } from '../report.ts';
import { ms, short } from '../stats.ts';
import type { Kept } from './costs.ts';
import type { Facts } from './facts.ts';
import type { Mixed } from './mix.ts';
import { COMPONENTS, type Component, type Cost, type Cpu, type Demand, type Measured, totalOf } from './model.ts';
import type { Publishing } from './slots.ts';

/** What the model says of a run before it. */
export interface Prediction {
  /** Whole lives a second. */
  rate: number;
  demand: Demand;
}

export interface Highest extends Prediction {
  /** What there is no more of. */
  limit: string;
}

const NAMES: Record<Component, string> = {
  ...{ api: 'API', postgres: 'PostgreSQL', worker: 'worker', temporal: 'Temporal' },
  ...{ callers: 'callers', kernel: 'kernel' },
};
const MOST_OFF = { most: 25 };

/** What each transition costs, light and busy. */
export function costs(report: Report, { kinds, servers, pair }: Measured, kept: Record<string, Kept>): void {
  for (const [what, idle] of [
    ['a second of PostgreSQL and Temporal alone', servers],
    ['a second of an API process and a worker that have nothing to do', pair],
  ] as const)
    report.add({ what, figure: costText(idle) });
  for (const [kind, transitions] of Object.entries(kinds)) {
    for (const { name, times, points } of transitions) {
      const [light, busy] = points;
      if (!light || !busy) continue;
      report.add({
        what: `${kind}: ${name}${times > 1 ? `, each of ${times}` : ''}`,
        figure: `${costText(light)}, at ${percent(light.busy)} busy`,
        rival: `${costText(busy)}, at ${percent(busy.busy)} busy`,
      });
    }
    const { postgres = Number.NaN, pages = Number.NaN } = kept[kind] ?? {};
    const whole = (n: number) =>
      transitions.reduce((sum, { times, points }) => sum + times * totalOf((points[n] as Cost).cpu), 0) * 1000;
    const wal = transitions.reduce((sum, { times, points }) => sum + times * (points[1]?.wal ?? 0), 0);
    report.add({
      what: `${kind}: a whole life`,
      figure: `${ms(whole(0))} of CPU; ${kilobytes(postgres)} are kept in PostgreSQL`,
      rival: `${ms(whole(1))} of CPU; WAL ${kilobytes(wal)}, and ${kilobytes(pages)} of pages written whole after a checkpoint`,
    });
  }
}

/** What a workflow is to any Temporal. */
export function facts(report: Report, kind: string, { transitions, events, bytes, actions }: Facts): void {
  const figure = `${short(transitions)} state transitions, ${short(actions)} actions, ${short(events)} events of ${short(bytes)} bytes`;
  report.add({ what: `${kind}: its workflow`, figure });
}

/** How fast one worker publishes where it may have four messages under way, and where it may have one. */
export function publishing(report: Report, four: Publishing, one: Publishing): void {
  const text = ({ rate, busy }: Publishing) => `${short(rate)} messages/s, cores ${percent(busy)} busy`;
  report.add({ what: 'one worker publishes a backlog, four at a time', figure: text(four) });
  report.add({ what: 'the same, one at a time because audits come', figure: text(one) });
}

export function highest(report: Report, { rate, demand, limit }: Highest, run: Mixed, cores: number): void {
  const each = (cpu: Cpu, lives: number) => COMPONENTS.map((c) => `${NAMES[c]} ${ms((cpu[c] * 1000) / lives)}`);
  report.add({
    ...compared('the mix, as much as two cores can do', run.rate, rate, (n) => `${short(n)} lives/s`),
    ...{ measured: { value: off(run.rate, rate), unit: '% off' }, target: MOST_OFF },
  });
  report.add({
    what: 'the same: CPU of a life',
    figure: `${each(run.cpu, run.rate * run.seconds).join(', ')}; ${stateOf(run, cores)}`,
    rival: `predicted: ${each(demand.cpu, rate).join(', ')}; ${percent(demand.busy[0] ?? 0)} of both cores, limited by ${limit}`,
  });
  report.add(walOf('the same: WAL', run, demand));
}

export function half(report: Report, { rate, demand }: Prediction, run: Mixed, cores: number): void {
  const what = `half of that, ${short(rate)} lives/s begun whatever comes`;
  report.add({ what, figure: `${short(run.rate)} lives/s were done; ${stateOf(run, cores)}` });
  for (const c of COMPONENTS)
    report.add(compared(`the same: CPU of ${NAMES[c]}`, run.cpu[c] / run.seconds, demand.cpu[c], cores_));
  const [all, expected] = [totalOf(run.cpu) / run.seconds, totalOf(demand.cpu)];
  report.add({
    ...compared('the same: CPU of all', all, expected, cores_),
    ...{ measured: { value: off(all, expected), unit: '% off' }, target: MOST_OFF },
  });
  report.add(walOf('the same: WAL', run, demand));
}

function compared(what: string, measured: number, predicted: number, text: (n: number) => string): Line {
  return { what, figure: text(measured), rival: `predicted: ${text(predicted)}`, ratio: predicted / measured };
}

const walOf = (what: string, run: Mixed, { wal }: Demand): Line => {
  const line = compared(what, run.wal / run.seconds, wal, (n) => `${kilobytes(n)}/s`);
  return { ...line, figure: `${line.figure}, and ${kilobytes(run.pages / run.seconds)}/s of pages written whole` };
};

const cores_ = (n: number) => `${short(n)} cores`;
const percent = (share: number) => `${short(share * 100)} %`;
const kilobytes = (bytes: number) => `${short(bytes / 1000)} KB`;
const off = (measured: number, predicted: number) => Math.abs(predicted / measured - 1) * 100;

/** What is less than a hundredth of the whole is left out. */
function costText({ cpu, wal }: Cost): string {
  const least = totalOf(cpu) / 100;
  const parts = COMPONENTS.filter((c) => cpu[c] >= least).map((c) => `${NAMES[c]} ${ms(cpu[c] * 1000)}`);
  return `${parts.join(', ')}; WAL ${kilobytes(wal)}`;
}

const stateOf = (run: Mixed, cores: number) =>
  `${percent((totalOf(run.cpu) + run.others) / (run.seconds * cores))} of both cores were used, ${percent(run.others / (run.seconds * cores))} by others; ` +
  `no workflow waited longer than ${short(run.behind)} s`;
