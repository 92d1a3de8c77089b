import { get } from '../../api/client.ts';
import type { LiveEvent } from '../../api/live.ts';
import { CallError, ownProblem } from '../../api/problem.ts';
import type { ItemKind } from '../../links.ts';

/** Where the API has the items of each kind. */
const PATHS = {
  ticket: '/v1/tickets/{id}',
  job: '/v1/jobs/{id}',
  case: '/v1/cases/{id}',
  occurrence: '/v1/tasks/{id}/occurrences/{occurrence}',
  review: '/v1/reviews/{id}',
} as const;
export type PartKind = keyof typeof PATHS;
type Part = 'events' | 'workflow' | 'deliveries';

/** Where a part of an item is. All kinds that have it have it in the same form. */
export const placeOf = <P extends Part>(kind: PartKind, id: string, part: P) => ({
  at: `${PATHS[kind]}/${part}` as `${typeof PATHS.ticket}/${P}`,
  path: kind === 'occurrence' ? partsOf(id) : { id },
});

/** An occurrence's id: its task and its instant. Tasks' ids have no slash. */
export function partsOf(id: string): { id: string; occurrence: string } {
  const [task = '', occurrence = ''] = id.split('/');
  return { id: task, occurrence };
}

/** As the feed and deliveries call each kind. */
export const IN_FEED: Record<ItemKind | 'review', string> = {
  ...{ ticket: 'ticket', job: 'job', case: 'case', occurrence: 'task', review: 'review' },
};

/** Whether an event of the feed is about the item. */
export const isAbout =
  (kind: ItemKind | 'review', id: string) =>
  (event: LiveEvent): boolean =>
    event.kind === IN_FEED[kind] && event.itemId === id;

/** An occurrence as its task lists it; undefined: the task has none at that instant. @throws CallError */
export async function loadOccurrence(of: string, signal: AbortSignal) {
  const { id, occurrence } = partsOf(of);
  const task = await get('/v1/tasks/{id}', { path: { id } }, signal);
  const at = Date.parse(occurrence);
  if (Number.isNaN(at)) throw new CallError(ownProblem('not_found', ''));
  const [from, to] = [new Date(at).toISOString(), new Date(at + 1).toISOString()];
  const filter = { executor: task.executor, include: 'own' as const, state: task.state, from, to, limit: 500 };
  const read = (cursor: string | undefined) =>
    get('/v1/tasks', { query: { ...filter, expand: 'occurrences', cursor } }, signal);
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor);
    const listed = page.items.find((one) => one.id === id);
    if (listed) return { task, found: listed.occurrences?.find((one) => Date.parse(one.occurrence) === at) };
    cursor = page.nextCursor;
  }
  return { task, found: undefined };
}
