import type { FeedRow } from '../../runtime/feed.ts';
import type { Runtime } from '../../runtime/runtime.ts';

const PAGE = 1_000;
const HEARTBEAT_MS = 10_000;

interface FeedRange {
  /** The position after which to read. */
  after: number;
  limit: number;
  /** Stay at the end, and go on as events come. */
  follow: boolean;
}

export const feedService = ({ feed }: Runtime) => ({
  /**
   * The feed from a position on (S4.8), page by page as they are asked for. An empty page says that nothing has come for
   * 10 s. The first page is read at once, so that a database that cannot be reached is seen here.
   */
  async read({ after, limit, follow }: FeedRange) {
    const first = await feed.read(after, Math.min(PAGE, limit));
    return async function* pages(ended: AbortSignal): AsyncGenerator<FeedRow[]> {
      let [left, want] = [limit, PAGE];
      for (let page = first; ; page = await feed.read(page.at, Math.min(want, left))) {
        const { rows, at } = page;
        if (rows.length > 0) {
          yield rows;
          left -= rows.length;
          // a page that was cut for its size: the next one need not look at many more than fit
          want = Math.min(PAGE, rows.length * 2);
          if (left === 0 || ended.aborted) return;
        } else {
          if (!follow) return;
          const there = await feed.beyond(at, HEARTBEAT_MS, ended);
          if (ended.aborted) return;
          if (!there) yield [];
        }
      }
    };
  },
});
