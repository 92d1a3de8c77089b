import { DELIVERED_KINDS } from '../contract/kinds.ts';
import { type Db, only, type RowOf } from '../db/pool.ts';

/** What an operator watches of the whole system, read when it is asked for. */
export interface FigureService {
  /** Transitions that no workflow has received, estimated from 10,000 on. */
  unpublished(): Promise<RowOf<'publishing_lag'>>;
  /** Whether a worker publishes them. */
  isFollowed(): Promise<boolean>;
  /** Schedules and repeated deliveries that Temporal may have otherwise than their rows say. */
  resync(): Promise<number>;
  /** Items whose due transition fails. */
  parked(): Promise<number>;
  /** Deliveries by state, and as `attempt_<state>` how many attempts left them in it. */
  deliveries(): Promise<{ kind: string; what: string; n: number }[]>;
  /** Age in seconds of the oldest delivery that is pending. */
  oldestDelivery(): Promise<number>;
  /** The processes that live. */
  nodes(): Promise<{ id: string; url: string | null; seen_at: Date }[]>;
}

export const figureService = ({ lists }: Db): FigureService => ({
  unpublished: async () => only(await lists.run('publishing_lag')),
  isFollowed: async () => only(await lists.run('is_followed')).followed,
  resync: async () => (await lists.run('resync_count'))[0]?.n ?? 0,
  parked: async () => (await lists.run('parked_count'))[0]?.n ?? 0,
  deliveries: () => lists.run('delivery_counts'),
  oldestDelivery: async () =>
    (await lists.run('oldest_pending_delivery', { kinds: [...DELIVERED_KINDS] }))[0]?.seconds ?? 0,
  nodes: () => lists.run('live_nodes'),
});
