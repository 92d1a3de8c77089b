import { pageOf } from '../../contract/common.ts';
import { FigureKind, FindFilter, FoundItem } from '../../contract/figures.ts';
import type { RowOf } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import * as figures from '../../services/figures/figures.ts';
import { endpoint } from '../endpoint.ts';
import { listed } from '../paging.ts';
import { viewOf } from '../views.ts';

const fields = viewOf(FoundItem);
const view = (item: RowOf<'find_items'>) => ({
  ...fields(item),
  kind: item.kind as FigureKind,
  state: stateWord(item.kind, item.state),
  heldBy: item.holder,
});

export const findItemsEndpoint = endpoint('findItems', 'GET /v1/items', {
  tag: 'Figures',
  summary: 'Tickets, jobs, cases and occurrences of tasks whose id begins like this, in the order of ids',
  roles: ['producer', 'agent', 'supervisor'],
  scope: { list: 'queue' },
  query: FindFilter,
  answers: { 200: pageOf(FoundItem) },
  async handle({ ctx, query: { id: prefix, kind, limit, cursor = '' } }) {
    const slash = cursor.indexOf('/');
    const after = slash < 0 ? {} : { afterKind: cursor.slice(0, slash), afterId: cursor.slice(slash + 1) };
    return listed(
      figures.find(ctx, { prefix, kinds: kind ? [kind] : FigureKind.options, ...after, limit: limit + 1 }),
      limit,
      view,
      (i) => `${i.kind}/${i.id}`,
    );
  },
});
