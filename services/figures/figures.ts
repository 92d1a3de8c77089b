import type { FigureKind } from '../../contract/figures.ts';
import { DELIVERED_KINDS } from '../../contract/kinds.ts';
import { only, type ParamsOf } from '../../db/pool.ts';
import type { Context } from '../shared/service.ts';

/** Queues with a target that are examined. */
const MOST_TARGETS = 5_000;
/** Failed deliveries of each kind that are examined. */
const MOST_FAILED = 1_000;
/** Pending deliveries of each kind, the oldest, whose hosts GET /metrics shows. */
const MOST_PENDING = 5_000;
const MOST_HOSTS = 50;
/** Entries of each list in GET /v1/attention. */
const MOST_SHOWN = 50;

/** A name, or a prefix with `*`, as a pattern of LIKE. */
const likePattern = (name: string) => name.replace(/[\\%_]/g, '\\$&').replace(/\*$/, '%');

/** Log lines behind the slowest publishing lane, and the age of the oldest; estimated from 10,000 on. */
export const unpublished = async ({ db: { lists } }: Context) => only(await lists.run('publishing_lag'));

/** Whether a worker publishes the log. */
export const isFollowed = async ({ db: { lists } }: Context) => only(await lists.run('is_followed')).followed;

/** Number of schedules and repeated deliveries that may differ in Temporal from their rows. */
export const resync = async ({ db: { lists } }: Context) => (await lists.run('resync_count'))[0]?.n ?? 0;

/** Number of items whose due transition fails. @param rules counts tickets whose rules run out of time, too */
export const parked = async ({ db: { lists } }: Context, rules: boolean) =>
  (await lists.run('parked_count', { rules }))[0]?.n ?? 0;

/** Deliveries by state, and as `attempt_<state>` the number of attempts that left them in it. */
export const deliveries = ({ db: { lists } }: Context) => lists.run('delivery_counts');

/** Age in seconds of the oldest pending delivery. */
export const oldestDelivery = async ({ db: { lists } }: Context) =>
  (await lists.run('oldest_pending_delivery', { kinds: [...DELIVERED_KINDS] }))[0]?.seconds ?? 0;

/** The 50 hosts with the most pending deliveries, among the oldest of each kind. */
export const pendingHosts = ({ db: { lists } }: Context) =>
  lists.run('pending_hosts', { kinds: [...DELIVERED_KINDS], lines: MOST_PENDING, limit: MOST_HOSTS });

/** Counts of the `limit` oldest queues, topics, courts and groups, and of the others of each kind together. */
export const queues = ({ db: { lists } }: Context, limit: number) => lists.run('queue_metrics', { limit });

/**
 * A page of queues, topics, courts or groups with their counts, newest first.
 * @param of their names, or prefixes that end with `*`; null: all
 */
export const overview = (
  { db: { lists } }: Context,
  kind: FigureKind,
  of: readonly string[] | null,
  before: number | undefined,
  limit: number,
) => lists.run('overview', { kind, patterns: of?.map(likePattern), before, limit });

/** Items by a prefix of their ids, in the order of ids. */
export const find = ({ db: { lists } }: Context, wanted: ParamsOf<'find_items'>) => lists.run('find_items', wanted);

/** Queues, deliveries and items that need attention, the worst first. */
export async function attention({ db: { lists } }: Context) {
  const [late, overdue, paused, failed, parkedItems, heldBack, counts] = await Promise.all([
    lists.run('late_queues', { queues: MOST_TARGETS, limit: MOST_SHOWN }),
    lists.run('overdue_count', { queues: MOST_TARGETS }),
    lists.run('paused_queues', { limit: MOST_SHOWN }),
    lists.run('failed_queues', { kinds: [...DELIVERED_KINDS], lines: MOST_FAILED, limit: MOST_SHOWN }),
    lists.run('list_parked', { rules: false, limit: MOST_SHOWN }),
    lists.run('held_back_queues', { limit: MOST_SHOWN }),
    lists.run('delivery_counts'),
  ]);
  const failedTotal = counts.reduce((sum, { what, n }) => (what === 'failed' ? sum + n : sum), 0);
  return { late, overdue: only(overdue).n, paused, failed, parked: parkedItems, heldBack, failedTotal };
}

/** The processes that are alive. */
export const nodes = ({ db: { lists } }: Context) => lists.run('live_nodes');
