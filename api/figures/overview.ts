import { pageOf } from '../../contract/common.ts';
import * as contract from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import type { Finding } from '../../services/doctor/checks.ts';
import { warnings } from '../../services/doctor/doctor.ts';
import * as figures from '../../services/figures/figures.ts';
import { invalid } from '../../services/shared/service.ts';
import { endpoint, ok } from '../endpoint.ts';
import { checkTemporal, isFollowed } from '../reachable.ts';
import { listed, page, viewOf } from '../views.ts';

const NOUNS = { ticket: 'queues', job: 'topics', case: 'courts', task: 'groups' } as const;

const fields = viewOf(contract.OverviewEntry);
const entry = (kind: contract.FigureKind) => (q: RowOf<'overview'>) => ({
  ...fields(q),
  waiting: q.ready,
  handedOutLastMinute: kind === 'ticket' || kind === 'job' ? q.claims_last_minute : null,
  leaseExpiries: q.lease_expired,
  failedDeliveries: q.failed,
});

export const overviewEndpoint = endpoint('getOverview', 'GET /v1/overview', {
  tag: 'Figures',
  summary: 'All queues, topics, courts and groups with their counts, newest first: a page of each, or of one kind',
  roles: ['producer', 'agent', 'supervisor'],
  scope: 'handler',
  query: contract.OverviewFilter,
  answers: { 200: contract.Overview },
  async handle({ ctx, caller, query: { kind: only, limit, cursor } }) {
    if (cursor !== undefined && only === undefined) throw invalid('kind', 'is required with a cursor');
    const kinds = only ? [only] : (Object.keys(NOUNS) as contract.FigureKind[]);
    const pages = await Promise.all(
      kinds.map(async (kind) => {
        const rows = await figures.overview(ctx, kind, caller.queues, cursor, limit + 1);
        return [NOUNS[kind], page(rows, limit, entry(kind), (q) => q.seq)] as const;
      }),
    );
    return ok(Object.fromEntries(pages));
  },
});

export const attentionEndpoint = endpoint('getAttention', 'GET /v1/attention', {
  tag: 'Figures',
  summary:
    'Everything that needs attention: long waits, paused queues with work, failed deliveries, parked items, tickets held back, warnings, engines out of reach',
  roles: ['producer', 'agent', 'supervisor'],
  scope: 'unbound',
  answers: { 200: contract.Attention },
  async handle({ ctx }) {
    const [found, oldest, parkedTotal, warned, unpublished, nodes, temporal, followed] = await Promise.all([
      figures.attention(ctx),
      figures.oldestDelivery(ctx),
      figures.parked(ctx, false),
      warnings(ctx),
      figures.unpublished(ctx),
      figures.nodes(ctx),
      checkTemporal(ctx),
      isFollowed(ctx),
    ]);
    return ok({
      waitingTooLong: found.late.map((q) => ({
        kind: q.kind as contract.FigureKind,
        name: q.name,
        oldestWaitingSeconds: q.oldest_seconds,
        targetSeconds: q.target_seconds,
      })),
      pausedWithWork: found.paused.map(({ kind, name, waiting }) => ({
        kind: kind as contract.FigureKind,
        name,
        waiting,
      })),
      overdue: found.overdue,
      failedDeliveries: {
        total: found.failedTotal,
        queues: found.failed.map(({ kind, queue, failed, newest }) => ({
          ...{ kind, queue, failed },
          newestAt: newest.toISOString(),
        })),
      },
      oldestPendingDeliverySeconds: oldest,
      parked: {
        total: parkedTotal,
        items: found.parked.map((p) => ({
          ...{ kind: p.kind, id: p.item_id, error: p.error },
          until: p.until.toISOString(),
        })),
      },
      heldBack: found.heldBack,
      warnings: warned.map(warningView),
      engines: {
        postgres: 'ok' as const,
        temporal,
        worker: followed ? ('ok' as const) : ('unreachable' as const),
        unpublished: unpublished.waiting,
        unpublishedOldestSeconds: unpublished.oldest_seconds,
        nodes: nodes.length,
      },
    });
  },
});

const warningView = ({ check, count, examples, advice }: Finding) => ({
  ...{ check: check as (typeof contract.WARNINGS)[number], count, examples, advice },
});

const foundFields = viewOf(contract.FoundItem);
const foundView = (item: RowOf<'find_items'>) => ({
  ...foundFields(item),
  kind: item.kind as contract.FigureKind,
  state: stateWord(item.kind, item.state),
  heldBy: item.holder,
});

export const findItemsEndpoint = endpoint('findItems', 'GET /v1/items', {
  tag: 'Figures',
  summary: 'Tickets, jobs, cases and occurrences of tasks whose id begins like this, in the order of ids',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'queue' },
  query: contract.FindFilter,
  answers: { 200: pageOf(contract.FoundItem) },
  async handle({ ctx, query: { id: prefix, kind, limit, cursor = '' } }) {
    const slash = cursor.indexOf('/');
    const after = slash < 0 ? {} : { afterKind: cursor.slice(0, slash), afterId: cursor.slice(slash + 1) };
    return listed(
      figures.find(ctx, { prefix, kinds: kind ? [kind] : contract.FigureKind.options, ...after, limit: limit + 1 }),
      limit,
      foundView,
      (i) => `${i.kind}/${i.id}`,
    );
  },
});
