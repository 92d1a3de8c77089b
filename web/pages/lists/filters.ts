import { mayAct } from '../../api/session.ts';
import { isListKind, LIST_KINDS, type ListKind, READERS } from '../../links.ts';

/**
 * What a list shows, as it stands in the address, so that a list can be sent to someone and the browser's Back works: a queue,
 * topic or court, a state, a cursor, and of tickets whatever the API lists them by.
 */
export type Filter = Readonly<Record<string, string>>;

export const STATES: Record<ListKind, readonly string[]> = {
  ticket: ['waiting', 'held', 'delayed', 'decided', 'invalidated', 'expired', 'dead'],
  job: ['ready', 'reserved', 'delayed', 'buried', 'finished', 'deleted'],
  case: ['open', 'decided', 'hung', 'invalidated'],
};

const FINAL = ['decided', 'invalidated', 'expired', 'dead', 'finished', 'deleted'];

/** Whether something may be done yet to an item that is in this state. */
export const isOpen = (state: string): boolean => state !== '' && !FINAL.includes(state);

/** By what the API can list each kind, in its words. */
export const FILTERS: Record<ListKind, readonly string[]> = {
  ticket: [
    ...['queue', 'state', 'verdict', 'reviewer', 'text', 'createdAfter', 'createdBefore'],
    ...['decidedBy', 'decidedAfter', 'decidedBefore', 'overturned', 'automation', 'subject', 'category'],
    'order',
  ],
  job: ['queue', 'state'],
  case: ['queue', 'state'],
};

/** The kinds that the session's role may list. */
export const kindsSeen = (): ListKind[] => LIST_KINDS.filter((kind) => mayAct(...READERS[kind]));

export const kindIn = (query: Record<string, string>, among: ListKind[]): ListKind | undefined =>
  isListKind(query.kind) && among.includes(query.kind) ? query.kind : among[0];

/** The filter in an address; what its kind has not is left out. */
export function filterIn(query: Record<string, string>, kind: ListKind): Filter {
  const known = [...FILTERS[kind], 'cursor'].filter((name) => query[name]);
  return Object.fromEntries(known.map((name) => [name, query[name] ?? '']));
}
