import { get, type Schemas } from '../../api/client.ts';
import { readPages } from '../../api/resource.ts';

type Task = Schemas['Task'];

/** A time at which a task is due. */
export interface Entry {
  at: Date;
  task: Task;
  of: Schemas['Occurrence'];
}

interface Occurring {
  /** By day, in their order. */
  days: Map<string, Entry[]>;
  /** Whether there is more than was asked for. */
  more: boolean;
}

const PAGE = 200;
const MOST_PAGES = 10;

/** The occurrences of all tasks, or of a user's or group's, in a range of time. */
export async function loadOccurrences(
  { from, to }: { from: string; to: string },
  executor: string | undefined,
  signal: AbortSignal,
): Promise<Occurring> {
  const query = { from, to, expand: 'occurrences' as const, limit: PAGE, executor };
  const read = (cursor: string | undefined) => get('/v1/tasks', { query: { ...query, cursor } }, signal);
  const { items, nextCursor } = await readPages<Task>(read, MOST_PAGES);
  const found = items.flatMap((task) =>
    (task.occurrences ?? []).map((of): Entry => ({ at: new Date(of.occurrence), task, of })),
  );
  found.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.task.id < b.task.id ? -1 : 1));
  const days = Map.groupBy(found, ({ at }) => keyOf(at));
  return { days, more: nextCursor !== null || items.some(({ moreFrom }) => moreFrom) };
}

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
