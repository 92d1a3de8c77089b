import { kindOf } from '../../domain/kinds.ts';
import { Repeating } from '../../runtime/repeating.ts';
import { refreshCourt } from '../cases/courts.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';

/**
 * Applies changed settings of queues and courts to what is open in them, where the call that changed them could not:
 * every few seconds, beside the rest of maintenance, which must go on while a million items are walked through.
 */
export function applySettings(ctx: Context): Repeating {
  const { db, log, maintenance } = ctx;
  const refresh = async () => {
    for (const { kind, name } of await db.run('take_refresh')) {
      if (kindOf(kind).court) await refreshCourt(db, name);
      else await queues.refresh(ctx, kind, name);
    }
  };
  const work = new Repeating(refresh, (error) =>
    log.warn({ err: error.message }, 'changed settings could not be applied everywhere, trying again'),
  );
  maintenance.add(() => work.run());
  return work;
}
