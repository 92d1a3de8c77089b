import { NewTicket } from '../../contract/tickets.ts';
import { getItem, type Item } from '../../db/items.ts';
import { invalid } from '../../services/problems.ts';
import { contentHash, newId } from '../../services/tokens.ts';
import { entryOfBatch, sameOrConflict } from '../adding.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { checkUrl } from '../deliveries.ts';

const MAX_AHEAD_MS = 60_000;

/**
 * Adds a ticket once: the same id with the same content is the existing ticket (S0.9).
 * @returns the ticket, and whether this call made it
 * @throws Problem `id_conflict` when the id stands for other content, as it was first sent
 */
export async function addTicket(
  api: Api,
  caller: Caller,
  queue: string,
  ticket: NewTicket,
  id = ticket.id ?? newId(),
): Promise<{ item: Item; created: boolean }> {
  checkTicket(api, ticket);
  const content = {
    queue,
    priority: ticket.priority,
    body: ticket.body,
    requires: ticket.requires,
    exclude: ticket.exclude,
    callback: ticket.callback ?? null,
    delaySeconds: ticket.delaySeconds,
    deadlineSeconds: ticket.deadlineSeconds ?? null,
    createdAt: ticket.createdAt ?? null,
  };
  const hash = contentHash(content);
  const same = (existing: Item | undefined) => sameOrConflict(existing, 'ticket', id, hash);
  if (!api.services.queues.isKnown('ticket', queue)) {
    // a queue comes with its first ticket, not with one that is refused
    const existing = await getItem(api.runtime.db, 'ticket', id);
    if (existing) return same(existing);
    await api.services.queues.ensure('ticket', queue);
  }
  const item = await api.services.items.add({ kind: 'ticket', item: { id, hash, actor: caller.actor, ...content } });
  if (item) return { item, created: true };
  return same(await getItem(api.runtime.db, 'ticket', id));
}

/** One ticket of a batch, whatever it is. */
export const addOfBatch = (api: Api, caller: Caller, queue: string, sent: unknown) =>
  entryOfBatch(NewTicket, 'ticket', sent, (ticket) => addTicket(api, caller, queue, ticket));

function checkTicket(api: Api, { callback, createdAt }: NewTicket): void {
  if (callback && 'url' in callback) checkUrl(api, 'callback.url', callback.url);
  if (createdAt !== undefined && Date.parse(createdAt) > Date.now() + MAX_AHEAD_MS)
    throw invalid('createdAt', 'must be in the past');
}
