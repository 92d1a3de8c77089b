import { createHash } from 'node:crypto';
import type { CaseItem, Item, ReviewTarget } from '../contract/items.ts';
import type { Driven, Kind } from '../contract/snapshot.ts';
import { getCase } from '../db/cases.ts';
import { getCourt } from '../db/courts.ts';
import * as deliveries from '../db/deliveries.ts';
import { getItem } from '../db/items.ts';
import type { Db } from '../db/pool.ts';
import { getQueue } from '../db/queues.ts';
import { changeAt } from '../db/reviews.ts';
import { INVITED, isInvitation, outcomeMessage, withoutQuery } from '../domain/callbacks.ts';
import { caseView } from '../domain/cases.ts';
import { isItem, kindOf } from '../domain/kinds.ts';
import { type Change, changeMessage } from '../domain/reviews.ts';
import { createSender, type SenderContext } from './sender.ts';
import type { Message } from './webhook.ts';

/** Sending outcomes to those who act on them (S0.10). */
export interface DeliveryActivities {
  /** One attempt to tell an item's outcome; returns when it is told or nobody is left to tell. */
  deliverOutcome(kind: Kind, id: string): Promise<void>;
  /** One attempt at delivery number `n`. */
  deliver(kind: Driven, id: string, n: number): Promise<void>;
  /** Puts on record that the attempts are over. */
  giveUpDelivery(kind: Driven, id: string, n?: number): Promise<void>;
}

export interface DeliveryContext extends SenderContext {
  /** Where the decision of a ticket goes whose callback is a review. */
  forwardToReview(item: Item, target: ReviewTarget): Promise<void>;
  /** What a court does with a case that hangs. */
  escalateHung(item: CaseItem): Promise<void>;
}

export function deliveryActivities(context: DeliveryContext): DeliveryActivities {
  const { db, log, forwardToReview, escalateHung } = context;
  const { attempt, send } = createSender(context);

  return {
    deliver: (kind, id, n) =>
      attempt('other', `${kind}/${id}/${n}`, async (take) => {
        const delivery = await deliveries.getDelivery(db, kind, id, n);
        if (delivery?.state !== 'pending') return;
        const message = await messageFor(db, delivery);
        if (message) await send(delivery, message, take);
        else await notNeeded(db, delivery);
      }),
    deliverOutcome: (kind, id) =>
      attempt('verdict', `${kind}/${id}/1`, async (take) => {
        const item = await readItem(db, kind, id);
        if (!item?.telling) return;
        const isHung = 'tally' in item && item.state === 'expired';
        // once: what comes after a first attempt finds its delivery
        if (isHung && !(await deliveries.getDelivery(db, kind, id, 1))) await escalateHung(item);
        const callback = await callbackOf(db, item);
        if (!callback) return void (await nobodyToTell(db, kind, id));
        if ('review' in callback) return forwardToReview(item, callback);
        const message = await messageOf(db, item, callback, 1);
        const delivery = await deliveries.openDelivery(db, kind, id, message.type, callback.url);
        if (delivery?.state === 'pending') await send(delivery, message, take);
      }),
    async giveUpDelivery(kind, id, n = 1) {
      await db.transaction(async (tx) => {
        const given = await deliveries.setDeliveryFailed(tx, kind, id, n);
        if (!given) return;
        const { url, status, error, attempts } = given;
        log.warn({ kind, item: id, n, url: withoutQuery(url), status, error, attempts }, 'delivery given up');
        if (isItem(kind) && !isInvitation(given))
          await deliveries.itemTold(tx, kind, id, 'delivery_failed', { n, status, error });
      });
    },
  };
}

const readItem = (db: Db, kind: Kind, id: string): Promise<Item | CaseItem | undefined> =>
  kindOf(kind).court ? getCase(db, id) : getItem(db, kind, id);

/** An item's outcome; undefined: nobody is to be told any more. */
async function outcomeOf(db: Db, kind: Kind, id: string, n: number): Promise<Message | undefined> {
  const item = await readItem(db, kind, id);
  const callback = item && (await callbackOf(db, item));
  if (!item || !callback || 'review' in callback) return undefined;
  return messageOf(db, item, callback, n);
}

async function messageOf(db: Db, item: Item | CaseItem, callback: { url: string; secret: string }, n: number) {
  const completions = item.kind === 'task' ? await db.run('completions_of', { id: item.id }) : [];
  const outcome = outcomeMessage(item, completions);
  return { ...callback, type: outcome.type, id: messageId(item, n), body: JSON.stringify(outcome) };
}

/** Its callback was taken away meanwhile; or it never had one, and only its court wanted to know that it hangs. */
const nobodyToTell = (db: Db, kind: Kind, id: string) =>
  kindOf(kind).court
    ? deliveries.itemTold(db, kind, id, 'delivered', { to: 'fallback' })
    : deliveries.itemTold(db, kind, id, 'delivery_failed', { reason: 'the queue has no callback any more' });

/** One change of a review, as the review was after it. */
async function changeOf(db: Db, id: string, { n, version, body }: deliveries.Delivery): Promise<Message | undefined> {
  const { callback, ...change } = (await changeAt(db, id, n)) ?? { callback: null };
  if (!callback) return undefined;
  // a delivery of an older Docket has its content itself
  const message = changeMessage(id, version, (body ?? change) as Change);
  return { ...callback, id: messageId({ kind: 'review', id, version }, n), body: JSON.stringify(message) };
}

/** What a delivery sends, by the URL and secret of today: a corrected callback is one that works. */
function messageFor(db: Db, delivery: deliveries.Delivery): Promise<Message | undefined> {
  const { kind, item_id: id, n } = delivery;
  if (isInvitation(delivery)) return invitationOf(db, delivery);
  return isItem(kind) ? outcomeOf(db, kind, id, n) : changeOf(db, id, delivery);
}

async function notNeeded(db: Db, delivery: deliveries.Delivery): Promise<void> {
  const { kind, item_id: id, n } = delivery;
  if (isInvitation(delivery)) await deliveries.endDelivery(db, kind, id, n, 'the invitation has ended');
  else await deliveries.setDeliveryFailed(db, kind, id, n);
}

/** An invitation with its case, for the court to pass on; undefined: it has ended, or the court has no such callback. */
async function invitationOf(db: Db, { item_id: id, n, version }: deliveries.Delivery): Promise<Message | undefined> {
  const [item, invitation] = [await getCase(db, id), await deliveries.openInvitation(db, id, n)];
  const callback = item && (await getCourt(db, item.queue))?.invitation_callback;
  if (!callback || !invitation) return undefined;
  const { juror, expires_at } = invitation;
  const message = { type: INVITED, version, juror, case: caseView(item), expiresAt: expires_at.toISOString() };
  return { ...callback, id: messageId({ kind: 'case', id, version }, n), body: JSON.stringify(message) };
}

async function callbackOf(db: Db, item: Item): Promise<Item['callback']> {
  return item.callback ?? (await getQueue(db, item.kind, item.queue))?.callback ?? null;
}

/** The same for every attempt of one delivery, so that receivers can drop repeats. */
function messageId(item: { kind: Driven; id: string; version: number }, n: number): string {
  return `msg_${createHash('sha256').update(`${item.kind}/${item.id}/${item.version}/${n}`).digest('hex').slice(0, 32)}`;
}
