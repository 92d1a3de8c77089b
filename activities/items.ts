import type { Command, Kind, Snapshot } from '../contract/snapshot.ts';
import { snapshotOf } from '../runtime/followers/messages.ts';
import * as items from '../services/items/items.ts';
import type { Services } from '../services/services.ts';

/** What item workflows ask of the database. */
export interface ItemActivities {
  /** The row as it is; null when the item is gone (retention). */
  readItem(kind: Kind, id: string): Promise<Read | null>;
  /** Does what is due for this item by the database's clock, and returns the fresh row. */
  wakeItem(kind: Kind, id: string): Promise<Read | null>;
  /** Invites jurors whom the case lacks (S2.1), and returns the fresh row. */
  inviteJurors(id: string): Promise<Read | null>;
  /** Carries out an operator's command once; one that changes nothing is recorded as refused. */
  operate(kind: Kind, id: string, key: string, command: Command): Promise<Read | null>;
}

export interface Read {
  snapshot: Snapshot;
  /** Wait a grace beyond the wake time, because a pacemaker is there; else the durable timer is the only clock. */
  graced: boolean;
}

/** @param pacemaker whether one does the prompt work somewhere */
export function itemActivities({ ctx, commands, invitations }: Services, pacemaker: boolean): ItemActivities {
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
      await invitations.invite(id, { receivedBy: id });
      return read('case', id);
    },
    async operate(kind, id, key, command) {
      await commands.carryOut(kind, id, key, command);
      return read(kind, id);
    },
  };
}
