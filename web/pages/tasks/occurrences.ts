import { api, data, type Schemas } from '../../api/client.ts';
import { keyOf } from './days.ts';

type Task = Schemas['Task'];

/** A time at which a task is due. */
export interface Entry {
  at: Date;
  task: Task;
  of: Schemas['Occurrence'];
}

export interface Occurring {
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
  const found: Entry[] = [];
  let cursor: string | null | undefined;
  let more = false;
  for (let n = 0; n < MOST_PAGES && cursor !== null; n++) {
    const query = {
      ...{ from, to, expand: 'occurrences' as const, limit: PAGE },
      ...{ ...(executor && { executor }), ...(cursor && { cursor }) },
    };
    const page: { items: Task[]; nextCursor: string | null } = await data(
      api.GET('/v1/tasks', { params: { query }, signal }),
    );
    for (const task of page.items) {
      for (const of of task.occurrences ?? []) found.push({ at: new Date(of.occurrence), task, of });
      more ||= Boolean(task.moreFrom);
    }
    cursor = page.nextCursor;
  }
  found.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.task.id < b.task.id ? -1 : 1));
  return { days: Map.groupBy(found, ({ at }) => keyOf(at)), more: more || cursor !== null };
}
