import { IdParam } from '../../contract/common.ts';
import { TicketWorkflow } from '../../contract/tickets.ts';
import { endpoint, ok } from '../endpoint.ts';
import { askWorkflow } from '../workflows.ts';
import { findTicket } from './get.ts';

export const ticketWorkflow = endpoint({
  method: 'get',
  path: '/v1/tickets/{id}/workflow',
  tag: 'Tickets',
  summary: "What the ticket's workflow itself says",
  roles: ['producer', 'agent'],
  params: IdParam,
  answers: { 200: TicketWorkflow },
  problems: ['not_found'],
  async handle({ api, params: { id } }) {
    return ok(await askWorkflow(api, await findTicket(api, id)));
  },
});
