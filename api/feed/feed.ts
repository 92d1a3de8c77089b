import { type FeedEvent, FeedEvent as FeedEventSchema, FeedQuery } from '../../contract/feed.ts';
import type { FeedRow } from '../../runtime/feed.ts';
import * as feed from '../../services/figures/feed.ts';
import { endpoint } from '../endpoint.ts';
import { ndjson } from '../streams/sse.ts';

const DEFAULT_LIMIT = 1_000;

export const feedEndpoint = endpoint('readFeed', 'GET /v1/feed', {
  tag: 'Feed',
  summary: 'All events of all kinds after a position, one on each line; blank lines are heartbeats',
  roles: ['producer', 'supervisor'],
  scope: 'unbound',
  query: FeedQuery,
  answers: { 200: FeedEventSchema },
  media: 'application/x-ndjson',
  async handle({ api, ctx, caller, query: { after, follow, limit }, cut, holdPart }) {
    const most = limit ?? (follow ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
    // the first page is read before the answer begins, so that an unreachable database is a 503
    const pages = await feed.read(ctx, after, most, follow);
    return ndjson((ended) => textOf(pages(ended)), {
      endless: follow,
      headers: { 'docket-feed-newest': String(await ctx.feed.end()) },
      allowed: () => api.auth.isLive(caller).catch(() => true),
      hold: holdPart,
      failed(error) {
        ctx.log.warn({ err: (error as Error).message }, 'an answer of the feed broke off');
        cut();
      },
    });
  },
});

/** One event a line; a blank line is a heartbeat. */
async function* textOf(pages: AsyncGenerator<FeedRow[]>): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.length > 0 ? rows.map(lineOf).join('') : '\n';
}

function lineOf({ seq, kind, item_id, no, event_seq, type, actor, at, data, gold }: FeedRow): string {
  const id = [kind, item_id, ...(no === null ? [] : [no]), event_seq].join('/');
  const shown = { seq, id, kind, itemId: item_id, type, actor, at: at.toISOString(), data };
  const event: FeedEvent = gold ? { ...shown, gold } : shown;
  return `${JSON.stringify(event)}\n`;
}
