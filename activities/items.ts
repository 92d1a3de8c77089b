import { Name } from '../contract/names.ts';
import type { Awaited, Command, Kind, Snapshot } from '../contract/snapshot.ts';
import { snapshotOf } from '../runtime/followers/messages.ts';
import { invite } from '../services/cases/invitations.ts';
import * as waits from '../services/deliveries/waits.ts';
import * as items from '../services/items/items.ts';
import { addFiring } from '../services/jobs/schedules.ts';
import * as reviews from '../services/reviews/reviews.ts';
import type { Context } from '../services/shared/service.ts';
import { carryOut } from '../services/upkeep/commands.ts';

export type ItemActivities = ReturnType<typeof itemActivities>;

export interface Read {
  snapshot: Snapshot;
  /** Whether the timer leaves the wake time to a pacemaker first; without one the timer is the only clock. */
  graced: boolean;
}

/**
 * Activities on the database. Those of items' workflows return the row as it is then, null when the item was cleared
 * (retention).
 * @param pacemaker whether a pacemaker runs somewhere, which makes due transitions promptly
 */
export function itemActivities(ctx: Context, pacemaker: boolean) {
  const read = async (kind: Kind, id: string): Promise<Read | null> => {
    const row = await items.read(ctx, kind, id);
    return row ? { snapshot: snapshotOf(row, row.now, row.epoch), graced: pacemaker } : null;
  };
  return {
    readItem: read,
    /** Makes the item's due transitions by the database's clock. */
    async wakeItem(kind: Kind, id: string) {
      await items.wake(ctx, kind, id);
      return read(kind, id);
    },
    /** Invites jurors to a case that lacks some (S2.1). */
    async inviteJurors(id: string) {
      await invite(ctx, id, { receivedBy: id });
      return read('case', id);
    },
    /** Carries out an operator's command once; one that changes nothing is recorded as refused. */
    async operate(kind: Kind, id: string, key: string, command: Command) {
      // a signal may carry any name: those that the API refuses, such as the server's own, are not recorded
      const by = Name.safeParse(command.by).success ? command.by : 'operator';
      await carryOut(ctx, kind, id, key, { ...command, by });
      return read(kind, id);
    },
    /** Adds a periodic job's run (S3.7). The name stays, because histories contain it. */
    addOccurrence: (topic: string, name: string, at: string) => addFiring(ctx, topic, name, at),
    /** Applies pending callbacks of a review in order. `more`: some may be left; `telling`: the delivery that comes next. */
    applyReview: async (id: string) =>
      (await reviews.apply(ctx, id)) ?? { resolved: 0, more: false, version: null, telling: null },
    /** How the item that a workflow waits for has ended (B.1); null: it is open. */
    readOutcome: (workflowId: string, awaited: Awaited) => waits.read(ctx, workflowId, awaited),
    async forgetWait(workflowId: string) {
      await waits.forget(ctx, workflowId);
    },
    /** Ends the item, because its caller has cancelled and wants that. Its own workflow is informed: this one is another. */
    withdraw: (workflowId: string, { kind, id, version, actor }: Awaited) =>
      carryOut(ctx, kind, id, workflowId, { type: 'invalidate', reason: 'withdrawn', by: actor, version }, {}),
  };
}
