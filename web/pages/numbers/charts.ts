import type { Schemas } from '../../api/client.ts';
import type { FigureKind } from './wanted.ts';

export type Figures = Schemas['Figures'];
type Name = keyof Figures['series'];

/** How a line looks: by its dashes too, for those who cannot tell the colours apart. */
interface Look {
  /** Of web/styles/tokens.css. */
  ink: `--${string}`;
  dash: readonly number[];
}

export interface Line {
  name: string;
  look: Look;
  /** In the words of its kind, by `items.states` of the texts; without it by `numbers.lines`. */
  state?: string;
}

interface Candidate extends Line {
  name: Name;
  /** Drawn only where there was any. */
  rare?: boolean;
}

export interface ChartOf {
  id: 'backlog' | 'oldest' | 'throughput' | 'votes' | 'service';
  unit: 'count' | 'seconds';
  /** What happened in a step, not what there was at its end. */
  perStep: boolean;
  candidates: readonly Candidate[];
}

const SOLID: readonly number[] = [];
const LOOKS: Partial<Record<Name, Look>> = {
  waiting: { ink: '--accent', dash: SOLID },
  held: { ink: '--warn', dash: [8, 4] },
  delayed: { ink: '--muted', dash: [2, 3] },
  buried: { ink: '--bad', dash: [8, 3, 2, 3] },
  added: { ink: '--accent', dash: SOLID },
  handedOut: { ink: '--warn', dash: [8, 4] },
  settled: { ink: '--good', dash: [8, 3, 2, 3] },
  invalidated: { ink: '--muted', dash: [2, 3] },
  expired: { ink: '--text', dash: [4, 6] },
  dead: { ink: '--bad', dash: [12, 3] },
  leaseExpiries: { ink: '--bad', dash: [3, 3] },
  failedDeliveries: { ink: '--bad', dash: [12, 3] },
  wasted: { ink: '--bad', dash: [8, 4] },
};
const PLAIN: Look = { ink: '--accent', dash: SOLID };

const line = (name: Name, state?: string): Candidate => ({ name, look: LOOKS[name] ?? PLAIN, ...(state && { state }) });
const rare = (name: Name, state?: string): Candidate => ({ ...line(name, state), rare: true });
const FAILED = rare('failedDeliveries');
const EXPIRIES = rare('leaseExpiries');

// several hold a case at once, and a task is not leased: no one counts their expiries
const BACKLOG: Record<FigureKind, Candidate[]> = {
  ticket: [line('waiting', 'waiting'), line('held', 'held'), line('delayed', 'delayed'), FAILED],
  job: [line('waiting', 'ready'), line('held', 'reserved'), line('delayed', 'delayed'), line('buried', 'buried')],
  case: [line('waiting', 'open'), FAILED],
  task: [line('waiting', 'due'), line('delayed', 'planned'), FAILED],
};
const THROUGHPUT: Record<FigureKind, Candidate[]> = {
  ticket: [
    line('added'),
    line('handedOut'),
    line('settled', 'decided'),
    rare('invalidated', 'invalidated'),
    rare('expired', 'expired'),
    rare('dead', 'dead'),
    EXPIRIES,
  ],
  job: [line('added'), line('handedOut'), line('settled', 'finished'), rare('invalidated', 'deleted'), EXPIRIES],
  case: [line('added'), line('settled', 'decided'), rare('expired', 'hung'), rare('invalidated', 'invalidated')],
  task: [line('added'), line('settled', 'completed'), rare('expired', 'expired'), rare('invalidated', 'cancelled')],
};

/** The charts of a kind, in the order of the page. */
function chartsOf(kind: FigureKind): ChartOf[] {
  const level = { unit: 'count', perStep: false } as const;
  const rate = { unit: 'count', perStep: true } as const;
  const all: (ChartOf | false)[] = [
    { id: 'backlog', ...level, candidates: BACKLOG[kind] },
    { id: 'oldest', unit: 'seconds', perStep: false, candidates: [line('oldestWaitingSeconds')] },
    { id: 'throughput', ...rate, candidates: THROUGHPUT[kind] },
    kind === 'case' && { id: 'votes', ...rate, candidates: [line('votes'), line('wasted')] },
  ];
  return all.filter((chart) => chart !== false);
}

/** Numbers over time, a value for each line and step; null: not known. */
export interface Drawn {
  lines: Line[];
  /** The ends of the steps, in seconds since 1970; the axis begins with `from`. */
  from: number;
  times: number[];
  values: (number | null)[][];
  /** The newest step of which anything is known. */
  newest: number;
}

const isAny = (values: (number | null)[]) => values.some((value) => value !== null && value > 0);

/** What a chart draws. What happened in a step that is not over would look as if less happened now: it is not known yet. */
function drawnOf({ candidates, perStep }: ChartOf, { from, to, stepSeconds, series }: Figures): Drawn {
  const [begin, end] = [Date.parse(from) / 1_000, Date.parse(to) / 1_000];
  const times = series.waiting.map((_, n) => Math.min(end, begin + (n + 1) * stepSeconds));
  const isCut = (end - begin) % stepSeconds !== 0;
  const valuesOf = ({ name }: Candidate) => (perStep && isCut ? [...series[name].slice(0, -1), null] : series[name]);
  const lines = candidates.filter(({ rare, name }) => !rare || isAny(series[name]));
  const values = lines.map(valuesOf);
  // a level may be null because there is none: when it was read, all levels were
  const newest = lastKnown(perStep ? values : [series.waiting]);
  return { lines, from: begin, times, values, newest };
}

/** The charts of a kind: those that have something to draw, and the others. */
export function chartsIn(kind: FigureKind, figures: Figures) {
  const all = chartsOf(kind).map((chart) => ({ chart, drawn: drawnOf(chart, figures) }));
  return { drawn: all.filter(({ drawn }) => !isEmpty(drawn)), empty: all.filter(({ drawn }) => isEmpty(drawn)) };
}

export const isUnknown = ({ values }: Drawn) => values.every((line) => line.every((value) => value === null));
/** Nothing is known, or there was nothing. */
const isEmpty = ({ values }: Drawn) => !values.some(isAny);

/** Whether something is not known between what is. */
export const hasGap = ({ values, newest }: Drawn) => values.some((line) => line.slice(0, newest).includes(null));

function lastKnown(values: (number | null)[][]): number {
  const lasts = values.map((line) => line.findLastIndex((value) => value !== null));
  return Math.max(0, ...lasts);
}

/** When something last happened, as far as is known: while this stays the same, nothing that is dear need be asked again. */
export function lastChange(kind: FigureKind, figures: Figures): string {
  const drawn = chartsOf(kind)
    .filter(({ perStep }) => perStep)
    .map((chart) => drawnOf(chart, figures));
  return drawn
    .flatMap(({ lines, times, values }) =>
      values.map((line, n) => {
        const last = line.findLastIndex((value) => value !== null && value > 0);
        return `${lines[n]?.name} ${times[last]} ${line[last]}`;
      }),
    )
    .join();
}
