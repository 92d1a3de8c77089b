import { api, data, type Schemas } from '../../api/client.ts';
import { limited } from '../../api/limited.ts';
import { type Listed, usePages } from '../../api/pages.ts';

/** A queue, topic or court with its figures; null where they could not be had, such as of one that was deleted meanwhile. */
export interface Entry<Item, Stats> {
  item: Item;
  stats: Stats | null;
}

interface Source<Item, Stats> {
  /** The feed's kind whose events change the figures. */
  kind: string;
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<{ items: Item[]; nextCursor: string | null }>;
  stats: (item: Item, signal: AbortSignal) => Promise<Stats>;
}

const PAGE = 25;
/** Figures are asked for one by one: few at a time, so that a thousand queues are no burden. */
const inTurn = limited(4);

/** The newest entries with their figures, kept up to date. */
function useEntries<Item, Stats>({ kind, page, stats }: Source<Item, Stats>): Listed<Entry<Item, Stats>> {
  const load = async (cursor: string | undefined, signal: AbortSignal) => {
    const { items, nextCursor } = await page(cursor, signal);
    const figures = items.map((item) => inTurn(() => stats(item, signal)).catch(() => null));
    const found = await Promise.all(figures);
    return { items: items.map((item, n) => ({ item, stats: found[n] ?? null })), nextCursor };
  };
  return usePages(load, [], (event) => event.kind === kind);
}

const query = (cursor: string | undefined) => ({ query: { limit: PAGE, ...(cursor && { cursor }) } });

export type QueueEntry = Entry<Schemas['Queue'], Schemas['QueueStats']>;
export type TopicEntry = Entry<Schemas['Topic'], Schemas['TopicStats']>;
export type CourtEntry = Entry<Schemas['Court'], Schemas['CourtStats']>;
export type GroupEntry = Schemas['GroupSummary'];

export const useQueues = () =>
  useEntries<Schemas['Queue'], Schemas['QueueStats']>({
    kind: 'ticket',
    page: (cursor, signal) => data(api.GET('/v1/queues', { params: query(cursor), signal })),
    stats: ({ name: queue }, signal) =>
      data(api.GET('/v1/queues/{queue}/stats', { params: { path: { queue } }, signal })),
  });

export const useTopics = () =>
  useEntries<Schemas['Topic'], Schemas['TopicStats']>({
    kind: 'job',
    page: (cursor, signal) => data(api.GET('/v1/topics', { params: query(cursor), signal })),
    stats: ({ name: topic }, signal) =>
      data(api.GET('/v1/topics/{topic}/stats', { params: { path: { topic } }, signal })),
  });

export const useCourts = () =>
  useEntries<Schemas['Court'], Schemas['CourtStats']>({
    kind: 'case',
    page: (cursor, signal) => data(api.GET('/v1/courts', { params: query(cursor), signal })),
    stats: ({ name: court }, signal) =>
      data(api.GET('/v1/courts/{court}/stats', { params: { path: { court } }, signal })),
  });

export const useGroups = () =>
  useEntries<GroupEntry, null>({
    kind: 'task',
    page: (cursor, signal) => data(api.GET('/v1/groups', { params: query(cursor), signal })),
    stats: async () => null,
  });
