import { mayAct } from '../../api/session.ts';
import { isListKind, LIST_KINDS, type ListKind, READERS } from '../../links.ts';

/** What a list shows, as it stands in the address, so that a list can be sent to someone and the browser's Back works. */
export interface Filter {
  state?: string;
  /** A queue, topic or court. */
  queue?: string;
  /** Who holds or decided a ticket. */
  person?: string;
  /** ISO 8601. */
  after?: string;
  before?: string;
  cursor?: string;
}

const FIELDS = ['state', 'queue', 'person', 'after', 'before', 'cursor'] as const;

export const STATES: Record<ListKind, readonly string[]> = {
  ticket: ['waiting', 'held', 'delayed', 'decided', 'invalidated', 'expired', 'dead'],
  job: ['ready', 'reserved', 'delayed', 'buried', 'finished', 'deleted'],
  case: ['open', 'decided', 'hung', 'invalidated'],
};

/** By what the API can list each kind. */
export const FILTERS: Record<ListKind, readonly (keyof Filter)[]> = {
  ticket: ['queue', 'state', 'person', 'after', 'before'],
  job: ['queue', 'state'],
  case: ['queue', 'state'],
};

/** The kinds that the session's role may list. */
export const kindsSeen = (): ListKind[] => LIST_KINDS.filter((kind) => mayAct(...READERS[kind]));

export const kindIn = (query: Record<string, string>, among: ListKind[]): ListKind | undefined =>
  isListKind(query.kind) && among.includes(query.kind) ? query.kind : among[0];

/** The filter in an address; what its kind has not is left out. */
export function filterIn(query: Record<string, string>, kind: ListKind): Filter {
  const known = FIELDS.filter((name) => query[name] && (name === 'cursor' || FILTERS[kind].includes(name)));
  return Object.fromEntries(known.map((name) => [name, query[name]]));
}

/** An address with a filter: `/search?kind=ticket&state=held`. */
export function withFilter(base: string, filter: Filter & { kind?: ListKind }): string {
  const set = Object.entries(filter).filter(([, value]) => value);
  return set.length === 0 ? base : `${base}?${new URLSearchParams(Object.fromEntries(set))}`;
}
