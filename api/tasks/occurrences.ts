import { Page, pageOf } from '../../contract/common.ts';
import { OccurrenceParam } from '../../contract/tasks.ts';
import { TicketEvent, TicketWorkflow } from '../../contract/tickets.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { eventPage } from '../events.ts';
import { askWorkflow } from '../workflows.ts';

const BASE = '/v1/tasks/{id}/occurrences/{occurrence}';

/** An occurrence's id, whatever zone its time was written in. */
const itemId = ({ id, occurrence = '' }: { id: string; occurrence?: string }) =>
  `${id}/${new Date(occurrence).toISOString()}`;

export const occurrenceWorkflow = endpoint({
  method: 'get',
  path: `${BASE}/workflow`,
  tag: 'Tasks',
  summary: "What the occurrence's workflow itself says",
  roles: ['producer', 'agent'],
  params: OccurrenceParam,
  answers: { 200: TicketWorkflow },
  problems: ['not_found'],
  handle: async ({ api, params }) =>
    ok(await askWorkflow(api, await api.services.tasks.findOccurrence(itemId(params)))),
});

export const listOccurrenceEvents = endpoint({
  method: 'get',
  path: `${BASE}/events`,
  tag: 'Tasks',
  summary: "An occurrence's whole history, oldest first",
  roles: ['producer', 'agent'],
  params: OccurrenceParam,
  query: Page,
  answers: { 200: pageOf(TicketEvent) },
  problems: ['not_found'],
  async handle({ api, params, query }) {
    const { id } = await api.services.tasks.findOccurrence(itemId(params));
    return ok(await eventPage(api, 'task', id, query));
  },
});

export const occurrenceDeliveries = deliveryEndpoints({
  kind: 'task',
  tag: 'Tasks',
  base: BASE,
  params: OccurrenceParam,
  idOf: itemId,
});
