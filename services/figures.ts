import { DELIVERED_KINDS } from '../contract/kinds.ts';
import { type Db, only } from '../db/pool.ts';

/** What an operator watches of the whole system, read when it is asked for. */
export const figureService = ({ lists }: Db) => ({
  /** Lines of the log behind the slowest lane of publishing; estimated from 10,000 on. */
  unpublished: async () => only(await lists.run('publishing_lag')),
  /** Whether a worker publishes them. */
  isFollowed: async () => only(await lists.run('is_followed')).followed,
  /** Schedules and repeated deliveries that Temporal may have otherwise than their rows say. */
  resync: async () => (await lists.run('resync_count'))[0]?.n ?? 0,
  /** Items whose due transition fails. */
  parked: async () => (await lists.run('parked_count'))[0]?.n ?? 0,
  /** Deliveries by state, and as `attempt_<state>` how many attempts left them in it. */
  deliveries: () => lists.run('delivery_counts'),
  /** Age in seconds of the oldest delivery that is pending. */
  oldestDelivery: async () =>
    (await lists.run('oldest_pending_delivery', { kinds: [...DELIVERED_KINDS] }))[0]?.seconds ?? 0,
  /** The processes that live. */
  nodes: () => lists.run('live_nodes'),
});

export type FigureService = ReturnType<typeof figureService>;
