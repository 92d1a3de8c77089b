import { columnsOf, type Db, type RowOf } from '../../db/pool.ts';
import { LANES, type Lane } from './lanes.ts';

/** How far each lane has been published. */
export type Cursors = Record<Lane, number>;
type Shard = RowOf<'keep_shards'>;

const ALL = 4;

/**
 * The shards of the log that this process follows. A shard is a row: when its follower is silent another one takes it
 * over and raises its epoch, so a follower that wakes up later can move no cursor.
 */
export function createShards(db: Db, node: string) {
  let own = new Map<number, Shard>();
  const numbers = () => [...own.keys()];
  return {
    numbers,
    has: (shard: number) => own.has(shard),
    /**
     * Renews the heartbeat, takes unowned shards up to its share, and gives up shards beyond it.
     * @returns whether the set of owned shards has changed
     */
    async keep(): Promise<boolean> {
      const [followers] = await db.run('count_followers');
      const share = Math.ceil(ALL / Math.max(1, followers?.n ?? 1));
      let rows = await db.run('keep_shards', { node });
      if (rows.length > share) {
        await db.run('leave_shards', { node, shards: rows.slice(share).map((row) => row.shard) });
        rows = rows.slice(0, share);
      } else if (rows.length < share) {
        await db.run('take_shards', { node, limit: share - rows.length });
        rows = await db.run('keep_shards', { node });
      }
      const changed = rows.length !== own.size || rows.some((row) => own.get(row.shard)?.epoch !== row.epoch);
      if (changed) own = new Map(rows.map((row) => [row.shard, row]));
      return changed;
    },
    /** Gives up all shards: others may take them at once. */
    async leave(): Promise<void> {
      const shards = numbers();
      // Also where the database cannot be reached: the entries in memory are gone and must be read again.
      own.clear();
      await db.run('leave_shards', { node, shards });
    },
    lowest: (lane: Lane) => Math.min(...[...own.values()].map((shard) => shard[lane])),
    /** Whether the cursor of its lane has passed a line. */
    isPast: (shard: number, lane: Lane, position: number) => position <= (own.get(shard)?.[lane] ?? 0),
    /** Writes cursors that have moved. @returns false when some of the shards have been taken over */
    async move(cursors: Map<number, Cursors>): Promise<boolean> {
      const moved = [...own.values()].flatMap((shard) => {
        const to = cursors.get(shard.shard);
        return to && LANES.some((lane) => to[lane] > shard[lane]) ? [{ ...shard, ...to }] : [];
      });
      if (moved.length === 0) return true;
      const lanes = { reviews: 'reviews', outcomes: 'outcomes', rest: 'rest', idle: 'idle' } as const;
      const columns = columnsOf(moved, { shards: 'shard', epochs: 'epoch', ...lanes });
      const written = await db.run('move_cursors', { node, ...columns });
      for (const shard of moved) own.set(shard.shard, shard);
      return written.length === moved.length;
    },
  };
}
