import { pageOf } from '../../contract/common.ts';
import type { FigureKind } from '../../contract/figures.ts';
import { FindFilter, FoundItem } from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import * as figures from '../../services/figures/figures.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const KINDS: FigureKind[] = ['ticket', 'job', 'case', 'task'];

const view = (i: RowOf<'find_items'>) => ({
  kind: i.kind as FigureKind,
  id: i.id,
  queue: i.queue,
  state: stateWord(i.kind, i.state),
  createdAt: i.created_at.toISOString(),
  heldBy: i.holder,
  endedAt: i.ended_at?.toISOString() ?? null,
  endedBy: i.ended_by,
});

export const findItemsEndpoint = endpoint('findItems', 'GET /v1/items', {
  tag: 'Figures',
  summary: 'Tickets, jobs, cases and occurrences of tasks whose id begins like this, in the order of ids',
  roles: ['producer', 'agent'],
  scope: { list: 'queue' },
  query: FindFilter,
  answers: { 200: pageOf(FoundItem) },
  async handle({ ctx, query: { id: prefix, kind, limit, cursor = '' } }) {
    const slash = cursor.indexOf('/');
    const after = slash < 0 ? {} : { afterKind: cursor.slice(0, slash), afterId: cursor.slice(slash + 1) };
    const rows = await figures.find(ctx, { prefix, kinds: kind ? [kind] : KINDS, ...after, limit: limit + 1 });
    return ok(page(rows, limit, view, (i) => `${i.kind}/${i.id}`));
  },
});
