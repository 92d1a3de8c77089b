import type { Role } from './routes.ts';

/** What an item page shows; an occurrence's id is `<task>/<instant>`. */
const ITEM_KINDS = ['ticket', 'job', 'case', 'occurrence'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** What has a list of its own: by queue, by topic, by court. */
export const LIST_KINDS = ['ticket', 'job', 'case'] as const;
export type ListKind = (typeof LIST_KINDS)[number];

/** Who may read each, beside `admin`. */
export const READERS: Record<ItemKind, readonly Role[]> = {
  ticket: ['producer', 'agent'],
  job: ['producer', 'consumer'],
  case: ['producer', 'agent'],
  occurrence: ['producer', 'agent'],
};

export const isItemKind = (kind: string | undefined): kind is ItemKind => ITEM_KINDS.some((k) => k === kind);
export const isListKind = (kind: string | undefined): kind is ListKind => LIST_KINDS.some((k) => k === kind);

/** An address with what of a query says something: `/search?kind=ticket&state=held`. */
export function withQuery(base: string, query: object): string {
  const set = Object.entries(query).filter(([, value]) => value);
  return set.length === 0 ? base : `${base}?${new URLSearchParams(set)}`;
}

export const itemPath = (kind: ItemKind, id: string) => `/items/${kind}/${encodeURIComponent(id)}`;
export const queuePath = (kind: ListKind, queue: string) => `/queues/${kind}/${encodeURIComponent(queue)}`;
export const taskPath = (id: string) => `/tasks/edit/${encodeURIComponent(id)}`;
export const reviewPath = (id: string) => `/reviews/${encodeURIComponent(id)}`;
/** @param path of a setting, as the admin log has it: `/v1/queues/spam` */
export const changesPath = (path: string) => `/admin-log?${new URLSearchParams({ path })}`;

/** Where something stands that the API names by kind and id, as deliveries and the feed do: their `task` is an occurrence. */
export function pathOf(kind: string, id: string): string {
  if (kind === 'review') return reviewPath(id);
  if (kind === 'rotation') return taskPath(id);
  if (kind === 'task') return itemPath('occurrence', id);
  return isItemKind(kind) ? itemPath(kind, id) : '/';
}
