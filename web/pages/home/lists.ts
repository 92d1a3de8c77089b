import { useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { limited } from '../../api/limited.ts';
import { type Resource, useResource } from '../../api/resource.ts';

/** A queue, topic or court with its figures; null where they could not be had, such as of one that was deleted meanwhile. */
export interface Entry<Item, Stats> {
  item: Item;
  stats: Stats | null;
}

export interface Listed<T> extends Resource<T[]> {
  /** Shows one page more; undefined: there are no more. */
  more: (() => void) | undefined;
}

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

interface Source<Item, Stats> {
  /** The feed's kind whose events change the figures. */
  kind: string;
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>;
  stats: (item: Item, signal: AbortSignal) => Promise<Stats>;
}

const PAGE = 25;
/** Figures are asked for one by one: few at a time, so that a thousand queues are no burden. */
const inTurn = limited(4);

/** The newest entries with their figures, kept up to date; as many pages as somebody asked for. */
function useListed<Item, Stats>(source: Source<Item, Stats>): Listed<Entry<Item, Stats>> {
  const [pages, setPages] = useState(1);
  const [hasMore, setHasMore] = useState(false);
  const load = async (signal: AbortSignal) => {
    const items: Item[] = [];
    let cursor: string | null = null;
    for (let n = 0; n < pages && (n === 0 || cursor !== null); n++) {
      const next: Page<Item> = await source.page(cursor ?? undefined, signal);
      items.push(...next.items);
      cursor = next.nextCursor;
    }
    setHasMore(cursor !== null);
    const withStats = async (item: Item) => ({
      item,
      stats: await inTurn(() => source.stats(item, signal)).catch(() => null),
    });
    return Promise.all(items.map(withStats));
  };
  const resource = useResource(load, [pages], { on: ({ kind }) => kind === source.kind });
  return { ...resource, more: hasMore ? () => setPages(pages + 1) : undefined };
}

const query = (cursor: string | undefined) => ({ query: { limit: PAGE, ...(cursor && { cursor }) } });

export type QueueEntry = Entry<Schemas['Queue'], Schemas['QueueStats']>;
export type TopicEntry = Entry<Schemas['Topic'], Schemas['TopicStats']>;
export type CourtEntry = Entry<Schemas['Court'], Schemas['CourtStats']>;
export type GroupEntry = Schemas['GroupSummary'];

export const useQueues = () =>
  useListed<Schemas['Queue'], Schemas['QueueStats']>({
    kind: 'ticket',
    page: (cursor, signal) => data(api.GET('/v1/queues', { params: query(cursor), signal })),
    stats: ({ name: queue }, signal) =>
      data(api.GET('/v1/queues/{queue}/stats', { params: { path: { queue } }, signal })),
  });

export const useTopics = () =>
  useListed<Schemas['Topic'], Schemas['TopicStats']>({
    kind: 'job',
    page: (cursor, signal) => data(api.GET('/v1/topics', { params: query(cursor), signal })),
    stats: ({ name: topic }, signal) =>
      data(api.GET('/v1/topics/{topic}/stats', { params: { path: { topic } }, signal })),
  });

export const useCourts = () =>
  useListed<Schemas['Court'], Schemas['CourtStats']>({
    kind: 'case',
    page: (cursor, signal) => data(api.GET('/v1/courts', { params: query(cursor), signal })),
    stats: ({ name: court }, signal) =>
      data(api.GET('/v1/courts/{court}/stats', { params: { path: { court } }, signal })),
  });

export const useGroups = () =>
  useListed<GroupEntry, null>({
    kind: 'task',
    page: (cursor, signal) => data(api.GET('/v1/groups', { params: query(cursor), signal })),
    stats: async () => null,
  });
