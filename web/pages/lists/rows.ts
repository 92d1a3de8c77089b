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
  /** Of a case: its votes left. */
  figure: number;
  createdAt: string;
}

interface Page {
  items: Row[];
  nextCursor: string | null;
}

const ROWS = 50;

const ticketRow = ({
  id,
  queue,
  state,
  priority,
  lease,
  decidedBy,
  invalidation,
  createdAt,
}: Schemas['Ticket']): Row => ({
  ...{ id, queue, state, createdAt, figure: priority },
  who: lease?.reviewer ?? decidedBy ?? invalidation?.by ?? null,
});
const jobRow = ({ id, topic, state, priority, createdAt }: Schemas['Job']): Row => ({
  ...{ id, queue: topic, state, createdAt, figure: priority, who: null },
});
const caseRow = ({ id, court, state, votesLeft, winner, createdAt }: Schemas['Case']): Row => ({
  ...{ id, queue: court, state, createdAt, figure: votesLeft, who: winner },
});

/** One page of a list, newest first: never more is read than is shown. Jobs are listed by topic only. */
export async function loadRows(kind: ListKind, filter: Filter, signal: AbortSignal): Promise<Page> {
  const { queue, person, after, before, cursor } = filter;
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
  const query = {
    ...page,
    ...of<Schemas['TicketState']>(filter.state),
    ...(queue && { queue }),
    ...(person && { reviewer: person }),
    ...(after && { createdAfter: after }),
    ...(before && { createdBefore: before }),
  };
  const found = await data(api.GET('/v1/tickets', { params: { query }, signal }));
  return { ...found, items: found.items.map(ticketRow) };
}

/** The figures of a queue, topic or court, by state where they have one. They are kept, and nothing is counted for them. */
export function loadStats(kind: ListKind, name: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  if (kind === 'job') return data(api.GET('/v1/topics/{topic}/stats', { params: { path: { topic: name } }, signal }));
  if (kind === 'case') return data(api.GET('/v1/courts/{court}/stats', { params: { path: { court: name } }, signal }));
  return data(api.GET('/v1/queues/{queue}/stats', { params: { path: { queue: name } }, signal }));
}
