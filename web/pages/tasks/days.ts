export type View = 'month' | 'week';

/** Days of the browser's time zone, at their midnight. */
const day = (year: number, month: number, date: number) => new Date(year, month, date);

const plus = (d: Date, days: number) => day(d.getFullYear(), d.getMonth(), d.getDate() + days);

/** `2026-11-22` */
export const keyOf = (d: Date) =>
  `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`;

/** The day of a key; of what is none, today. */
export function dayOf(key: string | undefined): Date {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(key ?? '') ?? [];
  const now = new Date();
  return year
    ? day(Number(year), Number(month) - 1, Number(date))
    : day(now.getFullYear(), now.getMonth(), now.getDate());
}

/** The Monday of a day's week. */
const mondayOf = (d: Date) => plus(d, -((d.getDay() + 6) % 7));

/** The weeks that are shown: that of the day, or those of its month. */
export function weeksOf(view: View, shown: Date): Date[][] {
  const first = mondayOf(view === 'week' ? shown : day(shown.getFullYear(), shown.getMonth(), 1));
  const last = view === 'week' ? shown : day(shown.getFullYear(), shown.getMonth() + 1, 0);
  const weeks: Date[][] = [];
  for (let monday = first; monday <= last; monday = plus(monday, 7))
    weeks.push([0, 1, 2, 3, 4, 5, 6].map((n) => plus(monday, n)));
  return weeks;
}

/** A day in the month or week before (−1) or after (1). */
export const shifted = (view: View, shown: Date, n: number) =>
  view === 'week' ? plus(shown, 7 * n) : day(shown.getFullYear(), shown.getMonth() + n, 1);

/** From the first midnight that is shown until before the one after the last. */
export function rangeOf(weeks: Date[][]): { from: string; to: string } {
  const days = weeks.flat();
  const [first = new Date(), last = new Date()] = [days[0], days.at(-1)];
  return { from: first.toISOString(), to: plus(last, 1).toISOString() };
}
