import type { Item } from '../../contract/items.ts';
import { share, sharePerGroup } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/context.ts';
import { newToken } from '../shared/tokens.ts';
import { MOST_TOGETHER, type PopRequest, waitFor } from './popping.ts';

/** Jobs that one statement moves, which bounds how long it locks. */
const MOVED_TOGETHER = 1_000;

interface OnePop {
  topic: string;
  TTR: number;
  holder: string;
  token: string;
}

/** Pops of the same topic with the same TTR share a statement. */
const sharedPops = perContext(({ db }) =>
  sharePerGroup<OnePop, Item | undefined>(() =>
    share(
      async (pops) => {
        const { topic = '', TTR = null } = pops[0] ?? {};
        const names = { tokens: pops.map((p) => p.token), holders: pops.map((p) => p.holder) };
        const rows = await db.move('pop_whole_jobs', { topic, TTR, ...names });
        const given = new Map(rows.map((row) => [row.lease_id, row]));
        return pops.map((p) => given.get(p.token));
      },
      { keys: (p) => [p.token], max: MOST_TOGETHER },
    ),
  ),
);

/** Pops where topics go before priorities, for reservations of `TTR` seconds. */
export const popInOrder = (ctx: Context, request: PopRequest, TTR: number): Promise<Item[]> =>
  waitFor(ctx, request, async () => {
    const found: (Item | undefined)[] = [];
    for (const topic of request.topics) {
      const left = request.count - found.length;
      const one = { topic, TTR, holder: request.holder };
      const pop = () => sharedPops(ctx)(JSON.stringify([topic, TTR]), { ...one, token: newToken() });
      found.push(...(await Promise.all(Array.from({ length: left }, pop))).filter(Boolean));
    }
    return found.filter((job) => job !== undefined);
  });

/**
 * Makes `count` buried jobs of a topic ready for one more attempt, the longest buried first.
 * @param ttlSeconds after which each is deleted; null: it is not
 * @returns how many
 */
export const respawn = ({ db }: Context, topic: string, count: number, ttlSeconds: number | null, actor: string) =>
  inParts(count, (limit) => db.move('respawn_jobs', { topic, limit, ttl: ttlSeconds ?? undefined, actor }));

/** Deletes the first `count` jobs of a topic that are in a state. @returns how many */
export const clear = ({ db }: Context, topic: string, state: 'ready' | 'buried', count: number, actor: string) =>
  inParts(count, (limit) => db.move('clear_jobs', { topic, state, limit, actor }));

/** In statements of a bounded size, until one finds fewer than it may move. */
async function inParts(count: number, move: (limit: number) => Promise<unknown[]>): Promise<number> {
  for (let moved = 0; ; ) {
    const limit = Math.min(MOVED_TOGETHER, count - moved);
    const { length } = limit > 0 ? await move(limit) : [];
    moved += length;
    if (length < limit || moved === count) return moved;
  }
}
