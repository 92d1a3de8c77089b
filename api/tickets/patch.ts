import { IdParam } from '../../contract/common.ts';
import { PatchTicket, Ticket } from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import { endpoint, ok } from '../endpoint.ts';
import { lookInto, refuse } from './refusing.ts';

export const patchTicket = endpoint({
  method: 'patch',
  path: '/v1/tickets/{id}',
  tag: 'Tickets',
  summary: 'Change an open ticket, also while held; the very next claim sees it',
  roles: ['producer'],
  params: IdParam,
  body: PatchTicket,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open'],
  async handle({ api, caller, params: { id }, body }) {
    // the event shows the change as every other time is shown
    const { deadlineAt } = body;
    const change = deadlineAt ? { ...body, deadlineAt: new Date(deadlineAt).toISOString() } : body;
    const rows = await api.runtime.db.move('change_item', { kind: 'ticket', id, change, actor: caller.actor });
    const [item] = await api.services.rules.settled(rows);
    if (!item) throw await refuse(api, await lookInto(api, id, null, null), null, 'change');
    return ok(ticketView(item));
  },
});
