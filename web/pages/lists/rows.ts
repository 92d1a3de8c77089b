import { get, type Schemas } from '../../api/client.ts';
import { type KeysetPage, readPages } from '../../api/resource.ts';
import type { ListKind } from '../../links.ts';
import type { Filter } from './filters.ts';

/** A ticket, job or case as a line of a list. */
export interface Row {
  id: string;
  queue: string;
  state: string;
  /** Who holds or ended a ticket, what won a case, or why a job was given back. */
  who: string | null;
  body: unknown;
  /** A ticket as the API gives it. */
  ticket?: Schemas['Ticket'];
  /** Of a case: its votes left. */
  figure: number;
  createdAt: string;
}

const ROWS = 50;

const ticketRow = (ticket: Schemas['Ticket']): Row => ({
  ...{ id: ticket.id, queue: ticket.queue, state: ticket.state, createdAt: ticket.createdAt, figure: ticket.priority },
  ...{ ticket, body: ticket.body, who: ticket.lease?.reviewer ?? ticket.decidedBy ?? ticket.invalidation?.by ?? null },
});
const jobRow = ({ id, topic, state, priority, createdAt, lastReason, body }: Schemas['Job']): Row => ({
  ...{ id, queue: topic, state, createdAt, figure: priority, who: lastReason, body },
});
const caseRow = ({ id, court, state, votesLeft, winner, createdAt, body }: Schemas['Case']): Row => ({
  ...{ id, queue: court, state, createdAt, figure: votesLeft, who: winner, body },
});

/** One page of a list, newest first: never more is read than is shown. Jobs are listed by topic only. */
export async function loadRows(kind: ListKind, filter: Filter, signal: AbortSignal): Promise<KeysetPage<Row>> {
  const { queue, state, cursor } = filter;
  const query = { limit: ROWS, state, cursor };
  if (kind === 'job') {
    if (!queue) return { items: [], nextCursor: null };
    const found = await get('/v1/topics/{topic}/jobs', { path: { topic: queue }, query } as never, signal);
    return { ...found, items: found.items.map(jobRow) };
  }
  if (kind === 'case') {
    const found = await get('/v1/cases', { query: { ...query, court: queue } } as never, signal);
    return { ...found, items: found.items.map(caseRow) };
  }
  const load = (cursor: string | undefined) =>
    get('/v1/tickets', { query: { ...filter, limit: ROWS, cursor } } as never, signal);
  const { items, nextCursor } = await readPages(load, 1, cursor);
  return { items: items.map(ticketRow), nextCursor };
}

/** The figures of a queue, topic or court, by state where they have one. They are kept, and nothing is counted for them. */
export function loadStats(kind: ListKind, name: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  if (kind === 'job') return get('/v1/topics/{topic}/stats', { path: { topic: name } }, signal);
  if (kind === 'case') return get('/v1/courts/{court}/stats', { path: { court: name } }, signal);
  return get('/v1/queues/{queue}/stats', { path: { queue: name } }, signal);
}
