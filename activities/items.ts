import type { Command, Kind, Snapshot } from '../contract/snapshot.ts';
import { snapshotOf } from '../runtime/followers/messages.ts';
import { invite } from '../services/cases/invitations.ts';
import * as items from '../services/items/items.ts';
import type { Context } from '../services/shared/context.ts';
import { carryOut } from '../services/upkeep/commands.ts';

/** Activities of items' workflows. */
export interface ItemActivities {
  /** Reads the row; null when the item was cleared (retention). */
  readItem(kind: Kind, id: string): Promise<Read | null>;
  /** Makes the item's due transitions by the database's clock, and returns the new row. */
  wakeItem(kind: Kind, id: string): Promise<Read | null>;
  /** Invites jurors to a case that lacks some (S2.1), and returns the new row. */
  inviteJurors(id: string): Promise<Read | null>;
  /** Carries out an operator's command once; one that changes nothing is recorded as refused. */
  operate(kind: Kind, id: string, key: string, command: Command): Promise<Read | null>;
}

export interface Read {
  snapshot: Snapshot;
  /** Whether the timer leaves the wake time to a pacemaker first; without one the timer is the only clock. */
  graced: boolean;
}

/** @param pacemaker whether a pacemaker runs somewhere, which makes due transitions promptly */
export function itemActivities(ctx: Context, pacemaker: boolean): ItemActivities {
  const read = async (kind: Kind, id: string): Promise<Read | null> => {
    const row = await items.read(ctx, kind, id);
    return row ? { snapshot: snapshotOf(row, row.now, row.epoch), graced: pacemaker } : null;
  };
  return {
    readItem: read,
    async wakeItem(kind, id) {
      await items.wake(ctx, kind, id);
      return read(kind, id);
    },
    async inviteJurors(id) {
      await invite(ctx, id, { receivedBy: id });
      return read('case', id);
    },
    async operate(kind, id, key, command) {
      await carryOut(ctx, kind, id, key, command);
      return read(kind, id);
    },
  };
}
