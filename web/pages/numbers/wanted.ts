/** What has figures over time. */
export const KINDS = ['ticket', 'job', 'case', 'task'] as const;
export type FigureKind = (typeof KINDS)[number];

interface Span {
  seconds: number;
  stepSeconds: number;
}

/** Hours of more than two days ago have one sample each, so that steps of less than an hour would alternate with nothing. */
export const RANGES = {
  hour: { seconds: 3_600, stepSeconds: 60 },
  day: { seconds: 86_400, stepSeconds: 300 },
  week: { seconds: 7 * 86_400, stepSeconds: 3_600 },
  month: { seconds: 30 * 86_400, stepSeconds: 7_200 },
} as const satisfies Record<string, Span>;
export type Range = keyof typeof RANGES;

export interface Wanted {
  kind: FigureKind;
  /** A queue, topic, court or executor; empty: all of the kind. */
  queue: string;
  range: Range;
}

export const DEFAULTS = { kind: 'ticket', queue: '', range: 'day' } as const satisfies Wanted;

const isRange = (text: string | undefined): text is Range => text !== undefined && Object.hasOwn(RANGES, text);

/** As it stands in the address. */
export const wantedIn = ({ kind, queue = '', range }: Record<string, string>): Wanted => ({
  kind: KINDS.find((one) => one === kind) ?? DEFAULTS.kind,
  queue,
  range: isRange(range) ? range : DEFAULTS.range,
});

/** Since when, for what is read as it is asked for. */
export const beginOf = (range: Range, nowMs: number) => ({ from: timeOf(range, nowMs).from });

const MINUTE_MS = 60_000;
/** Samples are taken in the first seconds of a minute: of steps that end half a minute later each has its own. */
const BETWEEN_SAMPLES_MS = 30_000;

/**
 * The time up to the newest sample. Steps begin at whole minutes, hours or pairs of hours, so that the next answer has the same
 * ones; the last of them may not be over yet.
 */
export function timeOf(range: Range, nowMs: number): { from: string; to: string; step: number } {
  const { seconds, stepSeconds } = RANGES[range];
  const downTo = (unitMs: number) => Math.floor((nowMs - BETWEEN_SAMPLES_MS) / unitMs) * unitMs + BETWEEN_SAMPLES_MS;
  const iso = (ms: number) => new Date(ms).toISOString();
  return { from: iso(downTo(stepSeconds * 1_000) - seconds * 1_000), to: iso(downTo(MINUTE_MS)), step: stepSeconds };
}
