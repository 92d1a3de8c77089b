import { kindOf } from '../../domain/kinds.ts';
import * as courts from '../cases/courts.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';

/**
 * Applies changed settings of queues and courts to their open items, where the call that changed them could not finish.
 * A maintenance chore.
 */
export async function applySettings(ctx: Context): Promise<void> {
  for (const { kind, name } of await ctx.db.run('take_refresh')) {
    if (kindOf(kind).court) await courts.refresh(ctx, name);
    else await queues.refresh(ctx, kind, name);
  }
}
