import type { Callback, CaseItem, Item, LookColumn } from '../../contract/items.ts';
import type { Driven, Kind } from '../../contract/snapshot.ts';
import type { DeliveryRow } from '../../db/statements.ts';
import { briefly, INVITED, isInvitation, outcomeMessage } from '../../domain/callbacks.ts';
import { caseView } from '../../domain/cases.ts';
import { kindOf } from '../../domain/kinds.ts';
import { type Change, changeMessage } from '../../domain/reviews.ts';
import { taskOf } from '../../domain/tasks.ts';
import { ticketView } from '../../domain/tickets.ts';
import type { Context } from '../shared/service.ts';
import { messageIdOf } from '../shared/tokens.ts';

/** A message to a receiver; its secret, if it has one, is `whsec_` and base64. */
export type Outgoing<C extends Callback = Callback> = C & {
  /** The same for every attempt at one delivery, so that receivers can drop repeats. Contains no dot. */
  id: string;
  body: string;
};

const caseOf = async ({ db }: Context, id: string): Promise<CaseItem | undefined> =>
  (await db.run('get_cases', { ids: [id] }))[0];

/** An item or case as it is now. */
export const read = async (ctx: Context, kind: Kind, id: string): Promise<Item | CaseItem | undefined> =>
  kindOf(kind).court ? caseOf(ctx, id) : (await ctx.db.run('get_items', { kind, ids: [id] }))[0];

/** The item's own callback, or its queue's, also of one that has been deleted; of an occurrence its task's, as it is now. */
export async function callbackOf({ db }: Context, item: Item): Promise<Item['callback']> {
  const task = item.kind === 'task' ? (await db.run('get_task', { id: taskOf(item.id) }))[0] : undefined;
  if (task) return task.callback;
  return item.callback ?? (await db.run('queue_callback', { kind: item.kind, name: item.queue }))[0]?.callback ?? null;
}

/** The message with an item's outcome, for its delivery number `n`. */
export async function messageOf({ db }: Context, item: Item | CaseItem, callback: Callback, n: number) {
  const completions = item.kind === 'task' ? await db.run('completions_of', { id: item.id }) : [];
  const message = outcomeMessage(item, completions);
  // of the decision, as a second look moves the item on
  const { version } = message;
  return { ...outgoing(callback, messageId({ ...item, version }, n), message), outcome: message };
}

/** Why a message is not needed any more. */
export const NO_CALLBACK = 'the queue has no callback any more';
const NO_INVITATION = 'the invitation has ended';
const NO_INVITATION_CALLBACK = 'the court has no callback for invitations any more';

/**
 * The message of a delivery, with the current URL and secret of its callback, so that correcting a callback has effect.
 * @returns a text when the message is not needed any more: why
 */
export async function messageFor(ctx: Context, delivery: DeliveryRow): Promise<Outgoing | string> {
  if (isInvitation(delivery)) return invitation(ctx, delivery);
  const { kind, item_id: id, n } = delivery;
  if (kind === 'review') return change(ctx, delivery);
  if (kind === 'task' && n > 1) return earlierEnd(ctx, delivery);
  if (n > 1) return lookOutcome(ctx, delivery);
  const item = await read(ctx, kind, id);
  // an occurrence that is dispatched again
  if (!item?.ended_at) return 'there is no outcome yet';
  const callback = await callbackOf(ctx, item);
  return callback && 'url' in callback ? messageOf(ctx, item, callback, n) : NO_CALLBACK;
}

/** An end of an occurrence that has been dispatched again since: what was sent of it then, with its id. */
async function earlierEnd(ctx: Context, { item_id: id, version, body }: DeliveryRow): Promise<Outgoing | string> {
  const item = await read(ctx, 'task', id);
  if (!item || body === null) return 'its task has been dispatched again since';
  const callback = await callbackOf(ctx, item as Item);
  if (!callback || !('url' in callback)) return NO_CALLBACK;
  return outgoing(callback, messageId({ kind: 'task', id, version }, 1), body as Message);
}

const viewOf = (item: Item | CaseItem) => ('tally' in item ? caseView(item) : ticketView(item));

/** What became of a second look, with the ticket or case that it is about as it was then. */
async function lookOutcome(ctx: Context, { kind, item_id: id, n, type, version, body }: DeliveryRow) {
  const { look, state } = body as { look: string; state: LookColumn };
  const [item, about] = [await read(ctx, kind as Kind, look), await read(ctx, kind as Kind, id)];
  const callback = about && (await callbackOf(ctx, about));
  if (!callback || !('url' in callback)) return NO_CALLBACK;
  const [shown, seen] = [viewOf({ ...about, version, look: state }), item ? viewOf(item) : null];
  return outgoing(callback, messageId({ kind, id, version }, n), { type, version, [kind]: shown, look: seen });
}

/** The review as it was after one change. */
async function change({ db }: Context, { item_id: id, n, version, body }: DeliveryRow): Promise<Outgoing | string> {
  const [row] = await db.run('review_change', { id, n });
  if (!row?.callback) return 'the review has no callback any more';
  const { callback, line, ...content } = row;
  // rows written by older versions of Docket hold the content themselves
  const message = changeMessage(id, version, (body as Change | null) ?? content, line);
  return outgoing(callback, messageId({ kind: 'review', id, version }, n), message);
}

/** An invitation with its case. */
async function invitation(ctx: Context, { item_id: id, n, version }: DeliveryRow): Promise<Outgoing | string> {
  const item = await caseOf(ctx, id);
  const [open] = await ctx.db.run('open_invitation', { id, n });
  const callback = item && (await ctx.db.run('get_court', { name: item.queue, deleted: true }))[0]?.invitation_callback;
  if (!open || !item) return NO_INVITATION;
  if (!callback) return NO_INVITATION_CALLBACK;
  const expiresAt = open.expires_at.toISOString();
  const message = { type: INVITED, version, juror: open.juror, case: caseView(item), expiresAt };
  return outgoing(callback, messageId({ kind: 'case', id, version }, n), message);
}

type Message = Parameters<typeof briefly>[0];

const outgoing = (callback: Callback, id: string, message: Message): Outgoing => ({
  ...{ ...callback, id },
  body: JSON.stringify(callback.secret === undefined ? briefly(message) : message),
});

const messageId = ({ kind, id, version }: { kind: Driven; id: string; version: number }, n: number) =>
  messageIdOf(`${kind}/${id}/${version}/${n}`);
