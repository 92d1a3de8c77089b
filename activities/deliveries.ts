import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { CaseItem, Item, ReviewTarget } from '../contract/items.ts';
import type { Driven, Kind } from '../contract/snapshot.ts';
import { getCase } from '../db/cases.ts';
import { getCourt } from '../db/courts.ts';
import * as deliveries from '../db/deliveries.ts';
import { getItem } from '../db/items.ts';
import type { Db } from '../db/pool.ts';
import { getQueue } from '../db/queues.ts';
import { changeAt } from '../db/reviews.ts';
import { INVITED, outcomeMessage } from '../domain/callbacks.ts';
import { caseView } from '../domain/cases.ts';
import { type Change, changeMessage } from '../domain/reviews.ts';
import { type Answer, type Message, post } from './webhook.ts';

/** Sending outcomes to those who act on them (S0.10). */
export interface DeliveryActivities {
  /** One attempt to tell an item's outcome; returns when it is told or nobody is left to tell. */
  deliverOutcome(kind: Kind, id: string): Promise<void>;
  /** One attempt at delivery number `n`. */
  deliver(kind: Driven, id: string, n: number): Promise<void>;
  /** Puts on record that the attempts are over. */
  giveUpDelivery(kind: Driven, id: string, n?: number): Promise<void>;
}

export interface DeliveryContext {
  db: Db;
  allowPrivate: boolean;
  /** Where the decision of a ticket goes whose callback is a review. */
  leadIntoReview(item: Item, target: ReviewTarget): Promise<void>;
  /** What a court does with a case that hangs. */
  escalateHung(item: CaseItem): Promise<void>;
}

const MAX_PER_HOST = 8;
const GONE = 410;

export function deliveryActivities({
  db,
  allowPrivate,
  leadIntoReview,
  escalateHung,
}: DeliveryContext): DeliveryActivities {
  const busy = new Map<string, number>();

  const deliver = async (kind: Driven, id: string, n: number): Promise<void> => {
    const delivery = await deliveries.getDelivery(db, kind, id, n);
    if (delivery?.state !== 'pending') return;
    const told = await messageFor(db, delivery);
    if (!told) return notNeeded(db, delivery);
    const { url } = told;
    const { host } = new URL(url);
    if ((busy.get(host) ?? 0) >= MAX_PER_HOST) throw later(`${host} is busy`, 500 + Math.random() * 1000);
    busy.set(host, (busy.get(host) ?? 0) + 1);
    try {
      const answer = await post(told, allowPrivate).catch((error: Error) => error);
      await record(delivery, url, answer);
    } finally {
      const left = (busy.get(host) ?? 1) - 1;
      if (left > 0) busy.set(host, left);
      else busy.delete(host);
    }
  };

  /** 2xx is told, 410 is "never again", anything else is tried again. */
  const record = async (delivery: deliveries.Delivery, url: string, answer: Answer | Error): Promise<void> => {
    const { kind, item_id: id, n } = delivery;
    const status = answer instanceof Error ? null : answer.status;
    const told = status !== null && status >= 200 && status < 300;
    const state = told ? 'delivered' : status === GONE ? 'failed' : 'pending';
    const error = told ? null : answer instanceof Error ? answer.message : `answered ${status}`;
    await db.transaction(async (tx) => {
      await deliveries.attemptDelivery(tx, kind, id, n, { url, status, error, state });
      const event = told ? 'delivered' : 'delivery_failed';
      if (state !== 'pending' && kind !== 'review' && isOutcome(delivery))
        await deliveries.itemTold(tx, kind, id, event, { n, status });
    });
    if (state === 'pending') {
      const delay = answer instanceof Error ? null : answer.retryAfterMs;
      throw later(error ?? 'not delivered', delay === null ? undefined : Math.min(Math.max(delay, 1000), 3_600_000));
    }
  };

  return {
    deliver,
    async deliverOutcome(kind, id) {
      const item = await readItem(db, kind, id);
      if (!item?.telling) return;
      if ('tally' in item && item.state === 'expired') await escalateHung(item);
      const callback = await callbackOf(db, item);
      if (callback && 'review' in callback) await leadIntoReview(item, callback);
      else if (callback) {
        const delivery = await deliveries.openDelivery(db, kind, id, outcomeMessage(item).type, callback.url);
        if (delivery) await deliver(kind, id, delivery.n);
      } else await nobodyToTell(db, kind, id);
    },
    async giveUpDelivery(kind, id, n = 1) {
      const delivery = await deliveries.getDelivery(db, kind, id, n);
      if (delivery?.state !== 'pending') return;
      await deliveries.setDeliveryFailed(db, kind, id, n);
      if (kind === 'review' || !isOutcome(delivery)) return;
      await deliveries.itemTold(db, kind, id, 'delivery_failed', { n, status: delivery.status, error: delivery.error });
    },
  };
}

const readItem = (db: Db, kind: Kind, id: string): Promise<Item | CaseItem | undefined> =>
  kind === 'case' ? getCase(db, id) : getItem(db, kind, id);

/** An item's outcome; undefined: nobody is to be told any more. */
async function outcomeOf(db: Db, kind: Kind, id: string, n: number): Promise<Message | undefined> {
  const item = await readItem(db, kind, id);
  const callback = item && (await callbackOf(db, item));
  if (!item || !callback || 'review' in callback) return undefined;
  return { ...callback, id: messageId(item, n), body: JSON.stringify(outcomeMessage(item)) };
}

/** Its callback was taken away meanwhile; or it never had one, and only its court wanted to know that it hangs. */
const nobodyToTell = (db: Db, kind: Kind, id: string) =>
  kind === 'case'
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
  if (!isOutcome(delivery)) return invitationOf(db, delivery);
  return kind === 'review' ? changeOf(db, id, delivery) : outcomeOf(db, kind, id, n);
}

async function notNeeded(db: Db, delivery: deliveries.Delivery): Promise<void> {
  const { kind, item_id: id, n } = delivery;
  if (isOutcome(delivery)) await deliveries.setDeliveryFailed(db, kind, id, n);
  else await deliveries.endDelivery(db, kind, id, n, 'the invitation has ended');
}

/** Whether the item waits for this delivery: an invitation's is beside its life. */
const isOutcome = ({ type }: deliveries.Delivery) => type !== INVITED;

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

function later(message: string, delayMs: number | undefined): ApplicationFailure {
  return ApplicationFailure.create({ message, type: 'not_delivered', nextRetryDelay: delayMs });
}
