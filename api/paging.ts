import type { z } from '@hono/zod-openapi';
import type { QueueFilter } from '../contract/queues.ts';
import { isCut } from '../domain/pages.ts';
import type { QueueService } from '../services/queues.ts';

/** One row more than the page was read: if it is there, or rows were left out for their size, there is a next page. */
export function page<T extends object, U>(
  rows: T[],
  limit: number,
  view: (row: T) => U,
  position: (row: T) => number | string,
) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit || isCut(rows);
  return { items: items.map(view), nextCursor: more && last !== undefined ? String(position(last)) : null };
}

type Row = Awaited<ReturnType<QueueService['list']>>[number];
type Stats = Awaited<ReturnType<QueueService['stats']>>;

/** A page of queues or topics, each with its figures where they were asked for. */
export async function pageOfQueues<U>(
  queues: QueueService,
  kind: 'ticket' | 'job',
  { order, cursor, limit, stats }: z.output<typeof QueueFilter>,
  view: (row: Row, stats: Stats | undefined) => U,
) {
  const rows = await queues.list(kind, { order, before: cursor, limit: limit + 1 });
  const names = rows.slice(0, limit).map((row) => row.name);
  const found = stats ? await queues.statsOf(kind, names) : undefined;
  const shown = page(
    rows,
    limit,
    (row) => view(row, found?.get(row.name)),
    (row) => row.seq,
  );
  // the other order changes while someone reads on
  return order === 'newest' ? shown : { ...shown, nextCursor: null };
}
