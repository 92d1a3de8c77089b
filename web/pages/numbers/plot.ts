import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { compact, dayOfMonth, exactDuration, timeOfDay } from '../../components/format.ts';
import type { ChartOf, Drawn } from './charts.ts';

export const HEIGHT = 260;
const FONT_SIZE = 12;
/** The cursors of all plots stand at the same time. */
const SYNC = 'numbers';
const DAY = 86_400;
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, DAY];

/** Whole numbers, and times that people count in: 1, 2, 5, 10, …; 10 s, 30 s, 1 min, …, 1 d, 2 d, 5 d, … */
const tens = (unit: number) => Array.from({ length: 12 }, (_, n) => [1, 2, 5].map((m) => m * unit * 10 ** n)).flat();
const INCREMENTS = { count: tens(1), seconds: [...SECONDS, ...tens(DAY).slice(1)] };

const asText = { count: compact, seconds: (n: number) => (n === 0 ? '0' : exactDuration(n)) };

interface Options {
  chart: ChartOf;
  /** What is drawn now. Its lines stay the same for the life of a plot. */
  drawn: () => Drawn;
  /** The step that the cursor points at; null: none. */
  onPoint: (step: number | null) => void;
}

/** Lines over time in an element that has a width. */
export const plotIn = (place: HTMLElement, options: Options): uPlot =>
  new uPlot(optionsOf(place, options), dataOf(options.drawn()), place);

/** Puts the cursor at a time, in seconds; undefined: nowhere. */
export const pointAt = (u: uPlot, at: number | undefined): void =>
  u.setCursor(at === undefined ? { left: -10, top: -10 } : { left: u.valToPos(at, 'x'), top: 0 });

export const dataOf = ({ times, values }: Drawn): uPlot.AlignedData => [times, ...values];

/** What happened in a step is as much in all of it. */
const steps = uPlot.paths.stepped?.({ align: -1 });

function optionsOf(place: HTMLElement, { chart: { unit, perStep }, drawn, onPoint }: Options) {
  const font = `${FONT_SIZE}px ${getComputedStyle(place).fontFamily}`;
  const axis: uPlot.Axis = {
    font,
    stroke: () => inkOf(place, '--muted'),
    grid: { stroke: () => inkOf(place, '--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    // half of a time stands beyond the last step
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 }, sync: { key: SYNC } },
    scales: {
      x: { range: () => [drawn().from, drawn().times.at(-1) ?? 0] },
      y: { range: (_u, _least, most) => [0, Math.max(1, most ?? 0) * 1.06] },
    },
    axes: [
      { ...axis, space: 64, size: 36, values: (_u, splits, _axis, _space, step) => timesOf(splits, step) },
      {
        ...axis,
        space: 32,
        incrs: INCREMENTS[unit],
        values: (_u, splits) => splits.map((n) => asText[unit](n)),
        size: (u, values) => widestOf(u, values, font) + 14,
      },
    ],
    series: [
      {},
      ...drawn().lines.map(({ look }) => ({
        stroke: () => inkOf(place, look.ink),
        width: 2,
        dash: [...look.dash],
        ...(perStep && steps && { paths: steps }),
        points: { size: 5, filter: (u: uPlot, line: number) => lonely(u.data[line] ?? []) },
      })),
    ],
    hooks: { setCursor: [(u) => onPoint(u.cursor.idx ?? null)] },
  } satisfies uPlot.Options;
}

/** A colour of web/styles/tokens.css in the scheme of now: a canvas does not know custom properties. */
function inkOf(place: HTMLElement, token: string): string {
  place.style.color = `var(${token})`;
  return getComputedStyle(place).color;
}

/** A value without neighbours makes no line, so it is drawn as a point. */
function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const isKnown = (n: number) => (values[n] ?? null) !== null;
  return Array.from(values, (_, n) => n).filter((n) => isKnown(n) && !isKnown(n - 1) && !isKnown(n + 1));
}

/** The day stands below the first time of each. */
function timesOf(splits: number[], step: number): string[] {
  const dates = splits.map((seconds) => new Date(seconds * 1_000));
  return dates.map((date, n) => {
    const day = dayOfMonth(date);
    if (step >= DAY) return day;
    const before = dates[n - 1];
    return before && dayOfMonth(before) === day ? timeOfDay(date) : `${timeOfDay(date)}\n${day}`;
  });
}

function widestOf(u: uPlot, values: string[] | null, font: string): number {
  u.ctx.save();
  u.ctx.font = font;
  const widths = (values ?? []).map((text) => u.ctx.measureText(text).width);
  u.ctx.restore();
  return Math.ceil(Math.max(0, ...widths));
}
