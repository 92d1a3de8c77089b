import type { Command, Kind, Snapshot } from '../contract/snapshot.ts';
import * as items from '../db/items.ts';
import type { Db, Mover } from '../db/pool.ts';
import { commandOnce, readItem, tickItem } from '../db/runtime.ts';
import { isFinal } from '../domain/items.ts';
import { snapshotOf } from '../runtime/outbox/messages.ts';
import { closeCases } from '../services/cases.ts';
import type { Invitations } from '../services/invitations.ts';
import { deleteTask } from '../services/tasks.ts';

/** What item workflows ask of the database. */
export interface ItemActivities {
  /** The row as it is; null when the item is gone (retention). */
  readItem(kind: Kind, id: string): Promise<Read | null>;
  /** Does what is due for this item by the database's clock, and returns the fresh row. */
  wakeItem(kind: Kind, id: string): Promise<Read | null>;
  /** Invites jurors whom the case lacks (S2.1), and returns the fresh row. */
  inviteJurors(id: string): Promise<Read | null>;
  /** Carries out an operator's command once; on a finished item, and if it makes no sense, it is logged as refused. */
  operate(kind: Kind, id: string, key: string, command: Command): Promise<Read | null>;
}

export interface Read {
  snapshot: Snapshot;
  /** Wait a grace beyond the wake time, because a pacemaker is there; else the durable timer is the only clock. */
  graced: boolean;
}

export interface ItemActivityContext {
  db: Db;
  invitations: Pick<Invitations, 'invite'>;
  /** Whether a pacemaker does the prompt work somewhere. */
  pacemaker: boolean;
}

export function itemActivities({ db, invitations, pacemaker }: ItemActivityContext): ItemActivities {
  const read = async (kind: Kind, id: string): Promise<Read | null> => {
    const row = await readItem(db, kind, id);
    return row ? { snapshot: snapshotOf(row, row.now), graced: pacemaker } : null;
  };
  return {
    readItem: read,
    async wakeItem(kind, id) {
      // one transition a pass; what is due after it (an escalation behind a reclaim) in the next
      for (let pass = 0; pass < 10; pass++) {
        const moved = await tickItem(db, kind, id, { receivedBy: id });
        if (moved.length === 0) break;
      }
      return read(kind, id);
    },
    async inviteJurors(id) {
      await invitations.invite(id, { receivedBy: id });
      return read('case', id);
    },
    async operate(kind, id, key, command) {
      await db.transaction(
        async (tx) => {
          if (await commandOnce(tx, key, kind, id)) await carryOut(tx, kind, id, command);
        },
        { receivedBy: id },
      );
      return read(kind, id);
    },
  };
}

async function carryOut(tx: Mover, kind: Kind, id: string, command: Command): Promise<void> {
  if (command.type === 'refuse') {
    const { signal, reason, detail, by } = command;
    await tx.move('note_item', { kind, id, type: 'refused', actor: by, data: { command: signal, reason, detail } });
    return;
  }
  if (await change(tx, kind, id, command)) return;
  const row = await items.getItem(tx, kind, id);
  const reason = row && isFinal(row.state) ? 'not_open' : 'not_held';
  const data = { command: command.type, reason };
  await tx.move('note_item', { kind, id, type: 'refused', actor: command.by, data });
}

type Change = Exclude<Command, { type: 'refuse' }>;

/** @returns whether anything changed */
async function change(tx: Mover, kind: Kind, id: string, command: Change): Promise<boolean> {
  const { by } = command;
  switch (command.type) {
    case 'invalidate':
      return INVALIDATE[kind](tx, id, command.reason, by);
    case 'reprioritize':
      return (await tx.move('change_item', { kind, id, change: { priority: command.priority }, actor: by })).length > 0;
    case 'kick':
      return (await tx.move('kick_job', { id, actor: by })).length > 0;
    case 'release': {
      const release = { kind, id, delaySeconds: 0, skip: false, undelivered: false, actor: by };
      return (await tx.move('release_item', release)).length > 0;
    }
  }
}

const close =
  (kind: Kind) =>
  async (tx: Mover, id: string, reason: string, actor: string): Promise<boolean> =>
    (await items.closeItems(tx, kind, { state: 'invalidated', items: [{ id }], reason, actor })).length > 0;

const INVALIDATE: Record<Kind, ReturnType<typeof close>> = {
  ticket: close('ticket'),
  job: close('job'),
  case: async (tx, id, reason, by) => (await closeCases(tx, [id], reason, by)).length > 0,
  task: async (tx, id, reason, actor) => (await tx.move('cancel_occurrence', { id, reason, actor })).length > 0,
  rotation: async (tx, id, reason, by) => (await deleteTask(tx, id, reason, by)) === 'deleted',
};
