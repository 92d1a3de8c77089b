import { kindOf } from '../../domain/kinds.ts';
import { Repeating } from '../../runtime/repeating.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { refreshCourt } from '../cases/courts.ts';
import type { QueueService } from '../items/queues.ts';

/**
 * Applies changed settings of queues and courts to what is open in them, where the call that changed them could not:
 * every few seconds, beside the rest of maintenance, which must go on while a million items are walked through.
 */
export function applySettings({ db, log, maintenance }: Runtime, queues: QueueService): Repeating {
  const refresh = async () => {
    for (const { kind, name } of await db.run('take_refresh')) {
      if (kindOf(kind).court) await refreshCourt(db, name);
      else await queues.refresh(kind, name);
    }
  };
  const work = new Repeating(refresh, (error) =>
    log.warn({ err: error.message }, 'changed settings could not be applied everywhere, trying again'),
  );
  maintenance.add(() => work.run());
  return work;
}
