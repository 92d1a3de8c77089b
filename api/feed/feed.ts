import { type FeedEvent, FeedEvent as FeedEventSchema, FeedQuery } from '../../contract/feed.ts';
import type { FeedRow } from '../../db/feed.ts';
import type { Feed, FeedPage } from '../../runtime/feed.ts';
import { endpoint } from '../endpoint.ts';
import { ndjson } from '../streams/ndjson.ts';

const DEFAULT_LIMIT = 1_000;
const PAGE = 1_000;
const HEARTBEAT_MS = 10_000;

export const feedEndpoint = endpoint({
  method: 'get',
  path: '/v1/feed',
  tag: 'Feed',
  summary: 'All events of all kinds, one a line, behind a position; blank lines are signs of life',
  roles: ['producer'],
  query: FeedQuery,
  answers: { 200: FeedEventSchema },
  media: 'application/x-ndjson',
  async handle({ api, caller, query, cut }) {
    const { feed, log } = api.runtime;
    const { after, follow } = query;
    const limit = query.limit ?? (follow ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
    // before the answer begins, so that a database that is away is still a 503
    const first = await feed.read(after, Math.min(PAGE, limit));
    return ndjson((ended) => pages(feed, { limit, follow, first, ended }), {
      endless: follow,
      headers: { 'docket-feed-newest': String(feed.newest) },
      allowed: () => api.auth.isLive(caller).catch(() => true),
      failed(error) {
        log.warn({ err: (error as Error).message }, 'an answer of the feed broke off');
        cut();
      },
    });
  },
});

interface Reading {
  limit: number;
  follow: boolean;
  first: FeedPage;
  ended: AbortSignal;
}

/** The feed from a position on (S4.8). Every line is one event; a blank one says that nothing has come for 10 s. */
async function* pages(feed: Feed, { limit, follow, first, ended }: Reading): AsyncGenerator<string> {
  let [left, want] = [limit, PAGE];
  for (let page = first; ; page = await feed.read(page.at, Math.min(want, left))) {
    const { rows, at } = page;
    if (rows.length > 0) {
      yield rows.map(lineOf).join('');
      left -= rows.length;
      // a page that was cut for its size: the next one need not look at many more than fit
      want = Math.min(PAGE, rows.length * 2);
      if (left === 0 || ended.aborted) return;
    } else {
      if (!follow) return;
      const there = await feed.beyond(at, HEARTBEAT_MS, ended);
      if (ended.aborted) return;
      if (!there) yield '\n';
    }
  }
}

function lineOf({ seq, kind, item_id, event_seq, type, actor, at, data }: FeedRow): string {
  const id = `${kind}/${item_id}/${event_seq}`;
  const event: FeedEvent = { seq, id, kind, itemId: item_id, type, actor, at: at.toISOString(), data };
  return `${JSON.stringify(event)}\n`;
}
