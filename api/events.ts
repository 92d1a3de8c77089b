import type { z } from 'zod';
import type { Page } from '../contract/common.ts';
import type { Kind } from '../contract/snapshot.ts';
import * as items from '../services/items/items.ts';
import type { Context } from '../services/shared/context.ts';
import { page } from './paging.ts';

/** A page of an item's history, oldest first. */
export async function eventPage(ctx: Context, kind: Kind, id: string, { limit, cursor }: z.output<typeof Page>) {
  const rows = await items.events(ctx, kind, id, cursor ?? 0, limit + 1);
  const view = (e: (typeof rows)[number]) => ({
    seq: e.seq,
    type: e.type,
    actor: e.actor,
    at: e.at.toISOString(),
    data: e.data,
  });
  return page(rows, limit, view, (e) => e.seq);
}
