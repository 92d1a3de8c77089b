import type { paths } from '../../../clients/typescript/src/openapi.ts';
import { api, data, type Schemas } from '../../api/client.ts';
import type { ListKind } from '../../links.ts';
import type { Filter } from './filters.ts';

/** A ticket, job or case as a line of a list. */
export interface Row {
  id: string;
  queue: string;
  state: string;
  /** Who holds or ended a ticket, or what won a case. */
  who: string | null;
  /** A ticket as the API gives it. */
  ticket?: Schemas['Ticket'];
  /** Of a case: its votes left. */
  figure: number;
  createdAt: string;
}

interface Page {
  items: Row[];
  nextCursor: string | null;
}

const ROWS = 50;
/** Empty pages in a row that are read before someone asks for more. */
const MOST_EMPTY = 20;

type TicketQuery = NonNullable<paths['/v1/tickets']['get']['parameters']['query']>;

const ticketRow = (ticket: Schemas['Ticket']): Row => ({
  ...{ id: ticket.id, queue: ticket.queue, state: ticket.state, createdAt: ticket.createdAt, figure: ticket.priority },
  ...{ ticket, who: ticket.lease?.reviewer ?? ticket.decidedBy ?? ticket.invalidation?.by ?? null },
});
const jobRow = ({ id, topic, state, priority, createdAt }: Schemas['Job']): Row => ({
  ...{ id, queue: topic, state, createdAt, figure: priority, who: null },
});
const caseRow = ({ id, court, state, votesLeft, winner, createdAt }: Schemas['Case']): Row => ({
  ...{ id, queue: court, state, createdAt, figure: votesLeft, who: winner },
});

/** One page of a list, newest first: never more is read than is shown. Jobs are listed by topic only. */
export async function loadRows(kind: ListKind, filter: Filter, signal: AbortSignal): Promise<Page> {
  const { queue, cursor } = filter;
  const page = { limit: ROWS, ...(cursor && { cursor }) };
  const of = <S>(state: string | undefined) => state && { state: state as S };
  if (kind === 'job') {
    if (!queue) return { items: [], nextCursor: null };
    const query = { ...page, ...of<Schemas['Job']['state']>(filter.state) };
    const params = { path: { topic: queue }, query };
    const found = await data(api.GET('/v1/topics/{topic}/jobs', { params, signal }));
    return { ...found, items: found.items.map(jobRow) };
  }
  if (kind === 'case') {
    const query = { ...page, ...of<Schemas['CaseState']>(filter.state), ...(queue && { court: queue }) };
    const found = await data(api.GET('/v1/cases', { params: { query }, signal }));
    return { ...found, items: found.items.map(caseRow) };
  }
  // a page may end early, after very many that do not fit
  const load = async (cursor: string | undefined) => {
    const query: TicketQuery = { ...filter, limit: ROWS, ...(cursor && { cursor }) };
    return data(api.GET('/v1/tickets', { params: { query }, signal }));
  };
  let found = await load(cursor);
  for (let n = 1; n < MOST_EMPTY && found.items.length === 0 && found.nextCursor !== null; n++)
    found = await load(found.nextCursor);
  return { ...found, items: found.items.map(ticketRow) };
}

/** The figures of a queue, topic or court, by state where they have one. They are kept, and nothing is counted for them. */
export function loadStats(kind: ListKind, name: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  if (kind === 'job') return data(api.GET('/v1/topics/{topic}/stats', { params: { path: { topic: name } }, signal }));
  if (kind === 'case') return data(api.GET('/v1/courts/{court}/stats', { params: { path: { court: name } }, signal }));
  return data(api.GET('/v1/queues/{queue}/stats', { params: { path: { queue: name } }, signal }));
}
