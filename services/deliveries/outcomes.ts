import { createHash } from 'node:crypto';
import type { Callback, CaseItem, Item } from '../../contract/items.ts';
import type { Driven, Kind } from '../../contract/snapshot.ts';
import type { Db } from '../../db/pool.ts';
import type { DeliveryRow } from '../../db/statements.ts';
import { INVITED, isInvitation, outcomeMessage } from '../../domain/callbacks.ts';
import { caseView } from '../../domain/cases.ts';
import { kindOf } from '../../domain/kinds.ts';
import { type Change, changeMessage } from '../../domain/reviews.ts';

/** A message to a receiver, as it is sent. */
interface Outgoing extends Callback {
  /** The same for every attempt at one delivery, so that receivers can drop repeats. */
  id: string;
  body: string;
}

const caseOf = async (db: Db, id: string): Promise<CaseItem | undefined> =>
  (await db.run('get_cases', { ids: [id] }))[0];

export type OutcomeService = ReturnType<typeof outcomeService>;

export function outcomeService(db: Db) {
  /** An item or case as it is. */
  const read = async (kind: Kind, id: string): Promise<Item | CaseItem | undefined> =>
    kindOf(kind).court ? caseOf(db, id) : (await db.run('get_items', { kind, ids: [id] }))[0];
  /** Its own callback, or its queue's. */
  const callbackOf = async (item: Item): Promise<Item['callback']> =>
    item.callback ?? (await db.run('get_queue', { kind: item.kind, name: item.queue }))[0]?.callback ?? null;
  /** The message with an item's outcome, for its delivery number `n`. */
  const messageOf = async (item: Item | CaseItem, callback: Callback, n: number) => {
    const completions = item.kind === 'task' ? await db.run('completions_of', { id: item.id }) : [];
    const outcome = outcomeMessage(item, completions);
    return { ...callback, type: outcome.type, id: messageId(item, n), body: JSON.stringify(outcome) };
  };
  const outcomeOf = async (kind: Kind, id: string, n: number) => {
    const item = await read(kind, id);
    const callback = item && (await callbackOf(item));
    return item && callback && 'url' in callback ? messageOf(item, callback, n) : undefined;
  };
  return {
    ...{ read, callbackOf, messageOf },
    /**
     * What a delivery sends, by the URL and secret of today: a corrected callback is one that works. Undefined: its message
     * is not needed any more.
     */
    async messageFor(delivery: DeliveryRow): Promise<Outgoing | undefined> {
      if (isInvitation(delivery)) return invitation(db, delivery);
      const { kind, item_id: id, n } = delivery;
      return kind === 'review' ? change(db, delivery) : outcomeOf(kind, id, n);
    },
  };
}

/** One change of a review, as the review was after it. */
async function change(db: Db, { item_id: id, n, version, body }: DeliveryRow): Promise<Outgoing | undefined> {
  const [row] = await db.run('review_change', { id, n });
  if (!row?.callback) return undefined;
  const { callback, ...content } = row;
  // a delivery made by an older Docket has its content itself
  const message = changeMessage(id, version, (body as Change | null) ?? content);
  return { ...callback, id: messageId({ kind: 'review', id, version }, n), body: JSON.stringify(message) };
}

/** An invitation with its case, for the court to pass on. Undefined: it has ended, or the court has no such callback. */
async function invitation(db: Db, { item_id: id, n, version }: DeliveryRow): Promise<Outgoing | undefined> {
  const item = await caseOf(db, id);
  const [open] = await db.run('open_invitation', { id, n });
  const callback = item && (await db.run('get_court', { name: item.queue }))[0]?.invitation_callback;
  if (!callback || !open) return undefined;
  const expiresAt = open.expires_at.toISOString();
  const message = { type: INVITED, version, juror: open.juror, case: caseView(item), expiresAt };
  return { ...callback, id: messageId({ kind: 'case', id, version }, n), body: JSON.stringify(message) };
}

function messageId(item: { kind: Driven; id: string; version: number }, n: number): string {
  return `msg_${createHash('sha256').update(`${item.kind}/${item.id}/${item.version}/${n}`).digest('hex').slice(0, 32)}`;
}
