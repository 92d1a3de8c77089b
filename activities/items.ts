import type { Command, Kind, Snapshot } from '../contract/snapshot.ts';
import { closeCases, inviteJurors } from '../db/cases.ts';
import * as items from '../db/items.ts';
import { kickJob } from '../db/jobs.ts';
import type { Db, Queryable } from '../db/pool.ts';
import { commandOnce, readItem, tickItem } from '../db/runtime.ts';
import { cancelOccurrence, deleteTask } from '../db/tasks.ts';
import { isFinal } from '../domain/items.ts';
import { type AfterCommit, snapshotOf } from '../runtime/outbox/messages.ts';
import { newToken } from '../services/tokens.ts';

/** In one round: a court may want more, which the next round invites. */
const MOST_INVITED = 100;

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
  after: AfterCommit;
  /** Whether a pacemaker does the prompt work somewhere. */
  pacemaker: boolean;
}

export function itemActivities({ db, after, pacemaker }: ItemActivityContext): ItemActivities {
  const read = async (kind: Kind, id: string): Promise<Read | null> => {
    const row = await readItem(db, kind, id);
    return row ? { snapshot: snapshotOf(row, row.now), graced: pacemaker } : null;
  };
  return {
    readItem: read,
    async wakeItem(kind, id) {
      // one transition a pass; what is due after it (an escalation behind a reclaim) in the next
      for (let pass = 0; pass < 10; pass++) {
        const moved = await tickItem(db, kind, id);
        after(moved, { toldBy: id });
        if (moved.length === 0) break;
      }
      return read(kind, id);
    },
    async inviteJurors(id) {
      await inviteJurors(db, id, Array.from({ length: MOST_INVITED }, newToken));
      const row = await readItem(db, 'case', id);
      if (row) after([row], { toldBy: id });
      return read('case', id);
    },
    async operate(kind, id, key, command) {
      const moved = await db.transaction(async (tx) => {
        if (!(await commandOnce(tx, key, kind, id))) return [];
        return carryOut(tx, kind, id, command);
      });
      after(moved, { toldBy: id });
      return read(kind, id);
    },
  };
}

async function carryOut(tx: Queryable, kind: Kind, id: string, command: Command): Promise<items.Item[]> {
  if (command.type === 'refuse') {
    const { signal, reason, detail, by } = command;
    return tx.move('note_item', { kind, id, type: 'refused', actor: by, data: { command: signal, reason, detail } });
  }
  const moved = await change(tx, kind, id, command);
  if (moved.length > 0) return moved;
  const row = await items.getItem(tx, kind, id);
  const reason = row && isFinal(row.state) ? 'not_open' : 'not_held';
  return tx.move('note_item', {
    kind,
    id,
    type: 'refused',
    actor: command.by,
    data: { command: command.type, reason },
  });
}

type Change = Exclude<Command, { type: 'refuse' }>;

function change(tx: Queryable, kind: Kind, id: string, command: Change): Promise<items.Item[]> {
  const { by } = command;
  switch (command.type) {
    case 'invalidate':
      if (kind === 'case') return endCase(tx, id, command.reason, by);
      if (kind === 'task') return cancelOccurrence(tx, id, command.reason, by);
      if (kind === 'rotation') return endRotation(tx, id, command.reason, by);
      return items.closeItems(tx, kind, { state: 'invalidated', items: [{ id }], reason: command.reason, actor: by });
    case 'reprioritize':
      return tx.move('change_item', { kind, id, change: { priority: command.priority }, actor: by });
    case 'kick':
      return kickJob(tx, id, by);
    case 'release':
      return tx.move('release_item', { kind, id, delaySeconds: 0, skip: false, undelivered: false, actor: by });
  }
}

async function endRotation(tx: Queryable, id: string, reason: string, by: string): Promise<items.Item[]> {
  return (await deleteTask(tx, id, reason, by)).items;
}

async function endCase(tx: Queryable, id: string, reason: string, by: string): Promise<items.Item[]> {
  return tx.run('get_items', { kind: 'case', ids: await closeCases(tx, [id], reason, by) });
}
