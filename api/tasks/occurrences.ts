import { Page, pageOf } from '../../contract/common.ts';
import { DispatchFilter, DispatchLine, OccurrenceParam } from '../../contract/tasks.ts';
import { TicketEvent, TicketWorkflow } from '../../contract/tickets.ts';
import { type DispatchLogRow, dispatchLog } from '../../db/dispatches.ts';
import { getItem, type Item } from '../../db/items.ts';
import { occurrenceOf, personOfUid, taskOf } from '../../domain/tasks.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { deliveryEndpoints } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { eventPage } from '../events.ts';
import { page } from '../paging.ts';
import { askWorkflow } from '../workflows.ts';

const BASE = '/v1/tasks/{id}/occurrences/{occurrence}';

/** An occurrence's id, whatever zone its time was written in. */
const itemId = ({ id, occurrence = '' }: { id: string; occurrence?: string }) =>
  `${id}/${new Date(occurrence).toISOString()}`;

/** @throws Problem `not_found`, also of an occurrence that is only planned */
async function findOccurrence(api: Api, id: string): Promise<Item> {
  const item = await getItem(api.runtime.db, 'task', id);
  if (!item) throw new Problem('not_found', `there is no occurrence ${id}, or not yet`);
  return item;
}

export const occurrenceWorkflow = endpoint({
  method: 'get',
  path: `${BASE}/workflow`,
  tag: 'Tasks',
  summary: "What the occurrence's workflow itself says",
  roles: ['producer', 'agent'],
  params: OccurrenceParam,
  answers: { 200: TicketWorkflow },
  problems: ['not_found'],
  handle: async ({ api, params }) => ok(await askWorkflow(api, await findOccurrence(api, itemId(params)))),
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
    const { id } = await findOccurrence(api, itemId(params));
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

/** A line's time in microseconds, number and item, as its cursor is written. */
const placeOf = (cursor: string): [number, string, number] => {
  const [at = '', seq = '', ...item] = cursor.split('_');
  return [Number(at), item.join('_'), Number(seq)];
};

const line = ({ item_id, type, at, data }: DispatchLogRow) => ({
  ...{ logId: data.logId, uid: data.uid, taskId: taskOf(item_id), occurrence: occurrenceOf(item_id) },
  ...{ params: data.params, type, at: at.toISOString(), result: data.result ?? null },
});

export const dispatchLogEndpoint = endpoint({
  method: 'get',
  path: '/v1/dispatch-log',
  tag: 'Tasks',
  summary: 'Who was given what, who completed it and what was given back; oldest first',
  roles: ['producer', 'agent'],
  query: DispatchFilter,
  answers: { 200: pageOf(DispatchLine) },
  async handle({ api, query: { uid, taskId, from, limit, cursor } }) {
    const person = uid === undefined ? undefined : personOfUid(uid);
    const filter = { person, taskId, from, after: cursor === undefined ? undefined : placeOf(cursor) };
    const rows = await dispatchLog(api.runtime.db.lists, filter, limit + 1);
    return ok(page(rows, limit, line, (r) => `${r.place}_${r.seq}_${r.item_id}`));
  },
});
