import { addItems, settleItems } from '../../db/items.ts';
import type { Mover } from '../../db/pool.ts';
import type { ItemRow } from '../../db/statements.ts';

// Items by the statements that the API runs, without an API.

const NEW = {
  ...{ priority: 0, body: null, requires: [], exclude: [], callback: null, actor: 'test' },
  ...{ delaySeconds: 0, deadlineSeconds: null, createdAt: null, leaseSeconds: 60, bodyBytes: 1 },
};

/** Adds new items with these ids. */
export function addNew(db: Mover, queue: string, ids: string[], kind: 'ticket' | 'job' = 'ticket') {
  const items = ids.map((id) => ({ ...NEW, id, queue, hash: Buffer.from(id).toString('hex') }));
  return addItems(db, kind, items);
}

/** A decision, but for its ticket. */
export const DECISION = { result: '1', hash: '00', subject: null, formVersion: null, seen: null };

/** Decides tickets as they came from a claim. */
export function settle(db: Mover, held: Pick<ItemRow, 'id' | 'lease_id'>[]) {
  const settlements = held.map(({ id, lease_id }) => ({ ...DECISION, id, token: lease_id ?? '' }));
  return settleItems(db, 'ticket', settlements);
}
