import { api, data, type Schemas } from '../../api/client.ts';
import { limited } from '../../api/limited.ts';
import type { LiveEvent } from '../../api/live.ts';
import { type Listed, type KeysetPage as Page, usePages } from '../../api/pages.ts';
import { type Resource, useResource } from '../../api/resource.ts';

/** A queue, topic or court with its figures; null where they could not be had. */
export interface Entry<Item, Stats> {
  item: Item;
  stats: Stats | null;
}

const PAGE = 50;
const OLDEST = 10;

const isOf = (kind: string) => (event: LiveEvent) => event.kind === kind;

function entries<Item extends { stats?: unknown }>({ items, nextCursor }: Page<Item>) {
  const shown = items.map((item) => ({ item, stats: (item.stats ?? null) as NonNullable<Item['stats']> | null }));
  return { items: shown, nextCursor };
}

/** The figures of courts are asked for one by one: few at a time. */
const inTurn = limited(4);

const query = (cursor: string | undefined) => ({ query: { limit: PAGE, ...(cursor && { cursor }) } });

export type QueueEntry = Entry<Schemas['ListedQueue'], Schemas['QueueStats']>;
export type TopicEntry = Entry<Schemas['ListedTopic'], Schemas['TopicStats']>;
export type CourtEntry = Entry<Schemas['Court'], Schemas['CourtStats']>;
export type GroupEntry = Schemas['GroupSummary'];

const withStats = (cursor: string | undefined) => ({ query: { limit: PAGE, stats: true, ...(cursor && { cursor }) } });

export const useQueues = (): Listed<QueueEntry> =>
  usePages(
    async (cursor, signal) => entries(await data(api.GET('/v1/queues', { params: withStats(cursor), signal }))),
    [],
    isOf('ticket'),
  );

export const useTopics = (): Listed<TopicEntry> =>
  usePages(
    async (cursor, signal) => entries(await data(api.GET('/v1/topics', { params: withStats(cursor), signal }))),
    [],
    isOf('job'),
  );

/** Those that wait the longest of all, however many queues there are. */
export const useOldest = (): Resource<QueueEntry[]> =>
  useResource(
    async (signal) => {
      const query = { order: 'oldest-waiting', stats: true, limit: OLDEST } as const;
      return entries(await data(api.GET('/v1/queues', { params: { query }, signal }))).items;
    },
    [],
    { on: isOf('ticket') },
  );

export const useCourts = (): Listed<CourtEntry> =>
  usePages(
    async (cursor, signal) => {
      const { items, nextCursor } = await data(api.GET('/v1/courts', { params: query(cursor), signal }));
      const statsOf = (court: string) =>
        data(api.GET('/v1/courts/{court}/stats', { params: { path: { court } }, signal })).catch(() => null);
      const all = items.map(async (item) => ({ item, stats: await inTurn(() => statsOf(item.name)) }));
      return { items: await Promise.all(all), nextCursor };
    },
    [],
    isOf('case'),
  );

export const useGroups = (): Listed<GroupEntry> =>
  usePages((cursor, signal) => data(api.GET('/v1/groups', { params: query(cursor), signal })), [], isOf('task'));
