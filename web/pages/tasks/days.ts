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

/** A day in the month or week before (−1) or after (1). */
export const shifted = (view: View, shown: Date, n: number) =>
  view === 'week' ? plus(shown, 7 * n) : day(shown.getFullYear(), shown.getMonth() + n, 1);

/** The first and the last day that are shown, and the time from the one's midnight to the other's end. */
export function rangeOf(view: View, shown: Date) {
  const first = view === 'week' ? mondayOf(shown) : day(shown.getFullYear(), shown.getMonth(), 1);
  const last = view === 'week' ? plus(first, 6) : day(shown.getFullYear(), shown.getMonth() + 1, 0);
  return { first, last, from: first.toISOString(), to: plus(last, 1).toISOString() };
}
