import { api, data, type Schemas } from '../../api/client.ts';
import type { LiveEvent } from '../../api/live.ts';
import type { ItemKind } from '../../links.ts';

interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

type Events = Page<Schemas['TicketEvent']>;
type Deliveries = Page<Schemas['Delivery']>;
type Workflow = Schemas['TicketWorkflow'];

/** What an item has beside itself, by the calls of its kind; null: its kind has none. */
interface Source {
  /** In the feed. */
  kind: string;
  events: ((id: string, cursor: string | undefined, signal: AbortSignal) => Promise<Events>) | null;
  workflow: ((id: string, signal: AbortSignal) => Promise<Workflow>) | null;
  deliveries: ((id: string, cursor: string | undefined, signal: AbortSignal) => Promise<Deliveries>) | null;
}

const EVENTS = 100;
const DELIVERIES = 20;

const query = (limit: number, cursor: string | undefined) => ({ limit, ...(cursor && { cursor }) });
const byId = (id: string, limit: number, cursor?: string) => ({ path: { id }, query: query(limit, cursor) });

/** An occurrence's id: its task and its instant. Tasks' ids have no slash. */
export function partsOf(id: string): { id: string; occurrence: string } {
  const [task = '', occurrence = ''] = id.split('/');
  return { id: task, occurrence };
}

const ofOccurrence = (id: string, limit: number, cursor?: string) => ({
  path: partsOf(id),
  query: query(limit, cursor),
});

export const sources: Record<ItemKind, Source> = {
  ticket: {
    kind: 'ticket',
    events: (id, cursor, signal) =>
      data(api.GET('/v1/tickets/{id}/events', { params: byId(id, EVENTS, cursor), signal })),
    workflow: (id, signal) => data(api.GET('/v1/tickets/{id}/workflow', { params: { path: { id } }, signal })),
    deliveries: (id, cursor, signal) =>
      data(api.GET('/v1/tickets/{id}/deliveries', { params: byId(id, DELIVERIES, cursor), signal })),
  },
  job: {
    kind: 'job',
    events: (id, cursor, signal) => data(api.GET('/v1/jobs/{id}/events', { params: byId(id, EVENTS, cursor), signal })),
    workflow: (id, signal) => data(api.GET('/v1/jobs/{id}/workflow', { params: { path: { id } }, signal })),
    deliveries: null,
  },
  case: {
    kind: 'case',
    events: (id, cursor, signal) =>
      data(api.GET('/v1/cases/{id}/events', { params: byId(id, EVENTS, cursor), signal })),
    workflow: (id, signal) => data(api.GET('/v1/cases/{id}/workflow', { params: { path: { id } }, signal })),
    deliveries: (id, cursor, signal) =>
      data(api.GET('/v1/cases/{id}/deliveries', { params: byId(id, DELIVERIES, cursor), signal })),
  },
  occurrence: {
    kind: 'task',
    events: (id, cursor, signal) =>
      data(
        api.GET('/v1/tasks/{id}/occurrences/{occurrence}/events', { params: ofOccurrence(id, EVENTS, cursor), signal }),
      ),
    workflow: (id, signal) =>
      data(api.GET('/v1/tasks/{id}/occurrences/{occurrence}/workflow', { params: { path: partsOf(id) }, signal })),
    deliveries: (id, cursor, signal) =>
      data(
        api.GET('/v1/tasks/{id}/occurrences/{occurrence}/deliveries', {
          params: ofOccurrence(id, DELIVERIES, cursor),
          signal,
        }),
      ),
  },
  task: { kind: 'rotation', events: null, workflow: null, deliveries: null },
};

/** Whether an event of the feed is about the item; of a task, also about its occurrences. */
export function isAbout(kind: ItemKind, id: string): (event: LiveEvent) => boolean {
  return (event) =>
    (event.kind === sources[kind].kind && event.itemId === id) ||
    (kind === 'task' && event.kind === 'task' && event.itemId.startsWith(`${id}/`));
}

/** An occurrence as its task lists it; undefined: the task has none at that instant. */
export async function loadOccurrence(of: string, signal: AbortSignal) {
  const { id, occurrence } = partsOf(of);
  const task = await data(api.GET('/v1/tasks/{id}', { params: { path: { id } }, signal }));
  const at = Date.parse(occurrence);
  const [from, to] = [new Date(at).toISOString(), new Date(at + 1).toISOString()];
  const filter = { executor: task.executor, include: 'own' as const, state: task.state, from, to, limit: 500 };
  const read = (after: string | undefined) => {
    const query = { ...filter, expand: 'occurrences' as const, ...(after && { cursor: after }) };
    return data(api.GET('/v1/tasks', { params: { query }, signal }));
  };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor);
    const listed = page.items.find((one) => one.id === id);
    if (listed) return { task, found: listed.occurrences?.find((one) => Date.parse(one.occurrence) === at) };
    cursor = page.nextCursor;
  }
  return { task, found: undefined };
}
