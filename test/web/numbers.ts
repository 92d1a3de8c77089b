import type { Page } from 'playwright-core';
import { repeat } from '../support/client.ts';
import type { TestSystem } from '../support/system.ts';

const FIELDS = [
  ...(['ready', 'held', 'delayed', 'settled', 'granted', 'lease_expired', 'votes', 'wasted', 'failed'] as const),
];

/** `oldest`: since when the oldest has been waiting, so many minutes ago. */
type Counts = Partial<Record<(typeof FIELDS)[number] | 'oldest', number>>;

/** A queue had this so many minutes ago, as if it had been sampled then. */
export async function sampled(
  { sql }: TestSystem,
  kind: string,
  queue: string,
  minutesAgo: number,
  counts: Counts,
): Promise<void> {
  const values = FIELDS.map((field) => counts[field] ?? 0);
  const oldest = counts.oldest === undefined ? 'null' : `now() - interval '${counts.oldest} minutes'`;
  await sql(
    `insert into sample (kind, queue, at, ${FIELDS.join()}, buried, invalidated, expired, dead, oldest)
     values ($1, $2, now() - make_interval(secs => 60 * $3::double precision), ${values.join()}, 0, 0, 0, 0, ${oldest})`,
    [kind, queue, minutesAgo],
  );
}

/** Sampling has gone on for so long. */
export const samplingFor = ({ sql }: TestSystem, minutes: number) =>
  sql(`update sample_state set began_at = now() - make_interval(mins => $1)`, [minutes]);

/** Of the first line of each chart. */
export const ACCENT = { light: [59, 73, 196], dark: [165, 176, 255] };

/** As much of a chart's canvas as is looked at. */
interface Canvas {
  width: number;
  height: number;
  clientWidth: number;
  parentElement: { querySelector(selector: string): { offsetLeft: number; offsetWidth: number } };
  getContext(kind: '2d'): { getImageData(...box: [number, number, number, number]): { data: Uint8ClampedArray } };
}

/** Where a chart has this colour: the columns of its canvas, from 0 at the left of the plot to 1 at its right. */
export function inkOf(page: Page, chart: string, colour: readonly number[]): Promise<number[]> {
  const columns = (canvas: Canvas, rgb: readonly number[]) => {
    const { width, height } = canvas;
    const plot = canvas.parentElement.querySelector('.u-over');
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    const found = new Set<number>();
    for (let n = 0; n < width * height; n++) {
      const isNear = rgb.every((c, i) => Math.abs(c - (pixels[4 * n + i] ?? 0)) < 12);
      if (isNear && (pixels[4 * n + 3] ?? 0) > 200) found.add(n % width);
    }
    const scale = width / canvas.clientWidth;
    return [...found].map((x) => (x / scale - plot.offsetLeft) / plot.offsetWidth);
  };
  return region(page, chart)
    .locator('canvas')
    .evaluate(columns as never, colour);
}

export const isInked = (ink: number[], from: number, to: number) => ink.some((x) => x > from && x < to);

/** A part of a page by its heading. */
export const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** The names and values of a chart's lines. */
export const legend = (page: Page, chart: string) => region(page, chart).getByRole('listitem').allTextContents();

/** The cells of a chart's table, newest first. */
export async function tableOf(page: Page, chart: string): Promise<string[][]> {
  await region(page, chart).getByText('As a table').click();
  const table = region(page, chart).getByRole('table');
  await table.waitFor();
  // the first column names the rows
  const lines = (await table.getByRole('columnheader').count()) - 1;
  const cells = await table.getByRole('cell').allTextContents();
  return repeat(cells.length / lines, (n) => cells.slice(n * lines, (n + 1) * lines));
}
