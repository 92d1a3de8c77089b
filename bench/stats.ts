/** The value below which a share `q` of the values lies; NaN for none. */
export function quantile(values: number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** The middle of several rounds. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Three figures that count, without a tail of noise. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

export const ms = (value: number) => `${short(value)} ms`;

/** How long many things took, in milliseconds. */
export const figureOf = (took: number[]) =>
  `p50 ${ms(quantile(took, 0.5))}, p99 ${ms(quantile(took, 0.99))}, at most ${ms(Math.max(...took))}`;

export interface Timed {
  /** Per second. */
  rate: number;
  /** Milliseconds each. */
  took: number[];
}

/**
 * Lets each worker repeat its step until the time is over; steps under way then are finished and count.
 * @param step returns false when there is nothing left to do
 */
export async function repeat(workers: ((took: number[]) => Promise<boolean>)[], seconds: number): Promise<Timed> {
  const took: number[] = [];
  const start = performance.now();
  const until = start + seconds * 1000;
  let done = 0;
  let last = start;
  await Promise.all(
    workers.map(async (step) => {
      while (performance.now() < until) {
        if (!(await step(took))) return;
        last = performance.now();
        done++;
      }
    }),
  );
  return { rate: done / ((last - start) / 1000), took };
}
