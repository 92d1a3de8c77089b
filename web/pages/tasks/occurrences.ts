import { get, type Schemas } from '../../api/client.ts';
import { readPages } from '../../api/resource.ts';
import { keyOf } from './days.ts';

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
