import { z } from '@hono/zod-openapi';
import { IdParam } from '../../contract/common.ts';
import { Release, Renew, Ticket, Transfer } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/problems.ts';
import { settleDue } from '../../services/queues.ts';
import { boundTo, type Caller } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { lookInto, refuse } from './refusing.ts';

/** Without a token an operator acts, and takes the ticket from whoever holds it. */
function needsToken(caller: Caller, token: string | undefined): string | null {
  if (token === undefined && caller.role !== 'admin')
    throw new Problem('forbidden', 'without a token this is for operators');
  return token ?? null;
}

export const renewTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/renew',
  tag: 'Tickets',
  summary: 'A full lease again',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: Renew,
  answers: { 200: z.object({ expiresAt: z.string() }) },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ api, caller, params: { id }, body: { token } }) {
    const subject = boundTo(caller);
    const item = await api.services.items.renew({ kind: 'ticket', hold: { id, token, subject } });
    if (item?.expires_at) return ok({ expiresAt: item.expires_at.toISOString() });
    throw await refuse(api, await lookInto(api, id, token, subject), token, 'renew');
  },
});

export const releaseTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/release',
  tag: 'Tickets',
  summary: 'Give a ticket back; skip: never offer it to me again',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: Release,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ api, caller, params: { id }, body }) {
    const token = needsToken(caller, body.token);
    const subject = boundTo(caller);
    const held = await lookInto(api, id, token, subject);
    const rows = await api.runtime.db.move('release_item', {
      kind: 'ticket',
      id,
      token,
      subject,
      delaySeconds: body.delaySeconds,
      reason: body.reason,
      skip: body.skip,
      undelivered: false,
      actor: token === null ? caller.actor : (held.holder ?? caller.actor),
    });
    const [item] = await api.services.rules.settled(rows);
    if (item) return ok(ticketView(item));
    const found = await lookInto(api, id, token, subject);
    // the answer was lost and the call is repeated: what it asked for is so
    if (token !== null && found.named_why === 'released' && found.ended_at === null) return ok(ticketView(found));
    throw await refuse(api, found, token, 'release');
  },
});

export const transferTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/transfer',
  tag: 'Tickets',
  summary: 'Move an open ticket to another queue; a live lease ends',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: Transfer,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ api, caller, params: { id }, body }) {
    const token = needsToken(caller, body.token);
    const subject = boundTo(caller);
    const held = await lookInto(api, id, token, subject);
    if (held.ended_at === null && (token === null || held.lease_id === token)) {
      await api.services.queues.ensure('ticket', body.queue);
      const actor = token === null ? caller.actor : (held.holder ?? caller.actor);
      const transfer = { kind: 'ticket', id, token, subject, queue: body.queue, reason: body.reason, actor };
      const rows = await api.runtime.db.transaction(async (tx) =>
        settleDue(tx, 'ticket', await tx.move('transfer_item', transfer)),
      );
      const [item] = await api.services.rules.settled(rows);
      if (item) return ok(ticketView(item));
    }
    const found = await lookInto(api, id, token, subject);
    const isRepeat = token !== null && found.named_why === 'transferred' && found.queue === body.queue;
    if (isRepeat && found.ended_at === null) return ok(ticketView(found));
    throw await refuse(api, found, token, 'transfer');
  },
});
