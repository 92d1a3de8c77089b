import type { FigureKind } from '../../contract/figures.ts';
import { DELIVERED_KINDS } from '../../contract/kinds.ts';
import { type Db, only, type ParamsOf } from '../../db/pool.ts';

/** Queues with a target that are looked at. */
const MOST_TARGETS = 5_000;
/** Failed deliveries of each kind that are looked at. */
const MOST_FAILED = 1_000;
/** Pending deliveries of each kind, the oldest, of which GET /metrics shows the hosts, and how many of these. */
const MOST_PENDING = 5_000;
const MOST_HOSTS = 50;
/** Of each thing that needs attention. */
const MOST_SHOWN = 50;

/** A name, or a prefix with `*`, as LIKE has it. */
const likePattern = (name: string) => name.replace(/[\\%_]/g, '\\$&').replace(/\*$/, '%');

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
  /** Where deliveries are pending, by the oldest of each kind: at most 50 hosts, those with the most of them. */
  pendingHosts: () =>
    lists.run('pending_hosts', { kinds: [...DELIVERED_KINDS], lines: MOST_PENDING, limit: MOST_HOSTS }),
  /** Of the `limit` queues, topics, courts and groups that were made first, and of the others of each kind together. */
  queues: (limit: number) => lists.run('queue_metrics', { limit }),
  /**
   * A page of queues, topics, courts or groups with their counts, newest first.
   * @param of names, and prefixes with `*` at their end, of those that are wanted; null: all
   */
  overview: (kind: FigureKind, of: readonly string[] | null, before: number | undefined, limit: number) =>
    lists.run('overview', { kind, patterns: of?.map(likePattern), before, limit }),
  /** Items by the beginning of their ids, in the order of ids. */
  find: (wanted: Omit<ParamsOf<'find_items'>, 'limit'>, limit: number) => lists.run('find_items', { ...wanted, limit }),
  /** What needs attention, the worst first. */
  attention: async () => {
    const [late, paused, failed, parked, counts] = await Promise.all([
      lists.run('late_queues', { queues: MOST_TARGETS, limit: MOST_SHOWN }),
      lists.run('paused_queues', { limit: MOST_SHOWN }),
      lists.run('failed_queues', { kinds: [...DELIVERED_KINDS], lines: MOST_FAILED, limit: MOST_SHOWN }),
      lists.run('list_parked', { limit: MOST_SHOWN }),
      lists.run('delivery_counts'),
    ]);
    const failedTotal = counts.reduce((sum, { what, n }) => (what === 'failed' ? sum + n : sum), 0);
    return { late, paused, failed, parked, failedTotal };
  },
  /** The processes that live. */
  nodes: () => lists.run('live_nodes'),
});

export type FigureService = ReturnType<typeof figureService>;
