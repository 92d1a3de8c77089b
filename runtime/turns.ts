import type { Db } from '../db/pool.ts';
import type { Load } from './load.ts';

/** Rows. A page that a person reads has fewer. */
const LARGE_PAGE = 101;
/** Statements whose pages callers ask for. Metrics and chores do not wait. */
const PAGES = /^(list|walk)_/;
/** The longest rest, so that a page that PostgreSQL searches for seconds does not delay the next one twice. */
const MAX_REST_MS = 100;

/**
 * Turns of the readers of large pages: one reads at a time and, while there are callers, a rest as long as the read
 * follows. Rows are decoded by the thread that answers all calls, so that four readers without a pause would make each
 * claim and decision take twenty times as long (S0.10).
 * @returns `inTurn`, and `db` with lists whose large pages are read by it
 */
export function createTurns(callers: Pick<Load, 'slowdown'>, db: Db) {
  let last = Promise.resolve();
  async function inTurn<T>(read: () => Promise<T>): Promise<T> {
    const before = last;
    let end = () => {};
    last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    const began = performance.now();
    try {
      return await read();
    } finally {
      const tookMs = performance.now() - began;
      setTimeout(end, callers.slowdown === undefined ? 0 : Math.min(MAX_REST_MS, tookMs));
    }
  }
  const run: Db['run'] = (name, ...given) => {
    const read = () => db.lists.run(name, ...given);
    const [{ limit = 0 } = {}] = given as [{ limit?: number }?];
    return limit > LARGE_PAGE && PAGES.test(name) ? inTurn(read) : read();
  };
  return { inTurn, db: { ...db, lists: { ...db.lists, run } } };
}
