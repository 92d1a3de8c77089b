import { createHash } from 'node:crypto';
import type { EventRow, History, ItemRow, LeaseRow, Span } from '../facts.ts';
import type { Op } from '../journal.ts';

/** What one checker says. Its zero is worth as much as `of` is large. */
export interface Verdict {
  /** How many things were looked at. */
  of: number;
  /** What must not be, one a line. */
  found: string[];
}

export type Checker = (history: History) => Verdict;

export const FINAL = new Set(['settled', 'invalidated', 'expired', 'dead']);

export const keyOf = (kind: string, id: string): string => `${kind}/${id}`;

/** As the log keeps tokens. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Calls of these names whose success was acknowledged. */
export const acknowledged = ({ ops }: Pick<History, 'ops'>, ...whats: string[]): Op[] =>
  ops.filter(({ what, outcome }) => outcome === 'ok' && whats.includes(what));

export const itemsOf = ({ items }: Pick<History, 'items'>): Map<string, ItemRow> =>
  new Map(items.map((item) => [keyOf(item.kind, item.id), item]));

/** What a put over TCP is known by: its body is bytes, and so a string. */
export function markOf({ body }: Pick<ItemRow, 'body'>): string | undefined {
  return typeof body === 'string' ? JSON.parse(body).mark : undefined;
}

/** The name under which a client added an item. */
export function nameOf({ kind, id, body }: Pick<ItemRow, 'kind' | 'id' | 'body'>): string {
  const mark = markOf({ body });
  if (mark !== undefined) return keyOf('mark', mark);
  // an occurrence is named by its task and its time
  return keyOf(kind, kind === 'task' ? id.replace(/\/.*$/, '') : id);
}

/** Items that were added with a delay, which a release may replace later. */
export function delayedOf({ items, ops }: Pick<History, 'items' | 'ops'>): { item: ItemRow; seconds: number }[] {
  const delays = new Map<string, number>();
  for (const { what, args } of ops) {
    if (what === 'ticket.add') delays.set(keyOf('ticket', args.id), args.delaySeconds);
    if (what === 'job.add') delays.set(keyOf('job', args.id), args.delay);
    if (what === 'tube.put') delays.set(keyOf('mark', args.mark), args.delay);
  }
  return items.flatMap((item) => {
    const seconds = delays.get(nameOf(item)) ?? 0;
    return seconds > 0 ? [{ item, seconds }] : [];
  });
}

/** Node 20 has no Map.groupBy. */
export function groupBy<T>(all: T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

export function countBy<T>(all: T[], keyOf: (one: T) => string): Record<string, number> {
  return Object.fromEntries([...groupBy(all, keyOf)].map(([key, group]) => [key, group.length]));
}

/** Lines of the log by item, each item's in order. */
export const linesOf = ({ events }: Pick<History, 'events'>): Map<string, EventRow[]> =>
  groupBy(events, ({ kind, item_id }) => keyOf(kind, item_id));

/** Leases whose times can be put in order. */
export const timedLeases = ({ leases, unsure }: Pick<History, 'leases' | 'unsure'>): LeaseRow[] =>
  leases.filter(({ granted_at, ended_at }) => isSure(unsure, granted_at) && isSure(unsure, ended_at ?? granted_at));

/** Whether the database's clock was right, and shows that time only once. */
export const isSure = (unsure: Span[], ms: number): boolean => !unsure.some(([from, to]) => from <= ms && ms <= to);

/** Whether a line hands its item out. */
export const grants = ({ token, type }: EventRow): boolean => token !== null && type !== 'refused';

/** Collects what must not be. */
export function verdict(of: number, ...found: (string | false | undefined)[]): Verdict {
  return { of, found: found.filter((line) => typeof line === 'string') };
}
