import type { FeedRow } from '../../runtime/feed.ts';
import type { Context } from '../shared/service.ts';

const PAGE = 1_000;
const HEARTBEAT_MS = 10_000;

/**
 * Reads the feed from a position on (S4.8), page by page as the reader takes them. An empty page is a heartbeat: there
 * was no event for 10 s. The first page is read at once, so that an unreachable database fails this call.
 * `follow`: waits for further events at the end.
 */
export async function read({ feed, inTurn }: Context, after: number, limit: number, follow: boolean) {
  const first = await inTurn(() => feed.read(after, Math.min(PAGE, limit)));
  return async function* pages(ended: AbortSignal): AsyncGenerator<FeedRow[]> {
    let [left, want] = [limit, PAGE];
    for (let page = first; ; ) {
      const { rows, at } = page;
      const next = () => feed.read(at, Math.min(want, left));
      if (rows.length > 0) {
        yield rows;
        left -= rows.length;
        // a page may be cut for its size: the next one need not read many more rows than fit
        want = Math.min(PAGE, rows.length * 2);
        if (left === 0 || ended.aborted) return;
        page = await inTurn(next);
      } else {
        if (!follow) return;
        const isThere = await feed.beyond(at, HEARTBEAT_MS, ended);
        if (ended.aborted) return;
        if (!isThere) yield [];
        // a reader at the end of the feed does not wait
        page = await next();
      }
    }
  };
}
