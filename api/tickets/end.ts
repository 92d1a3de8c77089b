import { z } from '@hono/zod-openapi';
import { IdParam, QueueParam } from '../../contract/common.ts';
import { BatchResults, Invalidate, InvalidateMany, Resolve, ResolveMany, Ticket } from '../../contract/tickets.ts';
import { coreState } from '../../domain/items.ts';
import { ticketView } from '../../domain/tickets.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { endTickets, itemOf } from './ending.ts';

const BATCH = 1000;

export const resolveTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/resolve',
  tag: 'Tickets',
  summary: 'Decided by another system or an operator, in any open state',
  roles: ['producer'],
  params: IdParam,
  body: Resolve,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open'],
  async handle({ api, caller, params: { id }, body: { decision, reason } }) {
    const [ending] = await endTickets(api, caller, { state: 'settled', items: [{ id, result: decision }], reason });
    return ok(ticketView(itemOf(ending)));
  },
});

export const resolveTickets = endpoint({
  method: 'post',
  path: '/v1/tickets/resolve',
  tag: 'Tickets',
  summary: 'The same for up to 1,000 tickets, each with its own outcome',
  roles: ['producer'],
  body: ResolveMany,
  bodyLimit: LARGE_BODY,
  answers: { 200: BatchResults },
  async handle({ api, caller, body: { items, reason } }) {
    const wanted = items.map((i) => ({ id: i.id, result: i.decision }));
    const endings = await endTickets(api, caller, { state: 'settled', items: wanted, reason });
    const results = endings.map((e) =>
      'problem' in e
        ? { id: e.id, httpStatus: e.problem.status, code: e.problem.code, detail: e.problem.message }
        : { id: e.id, httpStatus: 200 },
    );
    return ok({ results });
  },
});

export const invalidateTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/invalidate',
  tag: 'Tickets',
  summary: 'Nobody needs to decide it any more; a holder is told',
  roles: ['producer'],
  params: IdParam,
  body: Invalidate,
  answers: { 200: Ticket },
  problems: ['not_found', 'not_open'],
  async handle({ api, caller, params: { id }, body: { reason } }) {
    const [ending] = await endTickets(api, caller, { state: 'invalidated', items: [{ id }], reason });
    return ok(ticketView(itemOf(ending)));
  },
});

export const invalidateTickets = endpoint({
  method: 'post',
  path: '/v1/queues/{queue}/invalidate',
  tag: 'Tickets',
  summary: 'The same for many: by id or by filter, with a dry run',
  roles: ['producer'],
  params: QueueParam,
  body: InvalidateMany,
  bodyLimit: LARGE_BODY,
  answers: { 200: z.object({ invalidated: z.number().int(), skipped: z.number().int() }) },
  async handle({ api, caller, params: { queue }, body }) {
    const counted = body.ids ? await byIds(api, caller, queue, body) : await byFilter(api, caller, queue, body);
    return ok(counted);
  },
});

type Bulk = z.infer<typeof InvalidateMany>;

async function byIds(api: Api, caller: Caller, queue: string, { ids = [], reason, dryRun }: Bulk) {
  const unique = [...new Set(ids)].sort();
  let invalidated = 0;
  for (let at = 0; at < unique.length; at += BATCH) {
    const some = unique.slice(at, at + BATCH);
    if (dryRun) {
      invalidated += (await api.runtime.db.run('open_among', { kind: 'ticket', queue, ids: some })).length;
    } else invalidated += await invalidateSome(api, caller, queue, some, reason);
  }
  return { invalidated, skipped: unique.length - invalidated };
}

async function byFilter(api: Api, caller: Caller, queue: string, { filter = {}, reason, dryRun }: Bulk) {
  const state = filter.state && coreState('ticket', filter.state);
  const wanted = { ...filter, kind: 'ticket', queue, state };
  const { db } = api.runtime;
  if (dryRun) {
    const [counted] = await db.lists.run('count_filtered', wanted);
    return { invalidated: counted?.n ?? 0, skipped: 0 };
  }
  let invalidated = 0;
  let skipped = 0;
  for (let after = ''; ; ) {
    const ids = (await db.run('filter_items', { ...wanted, after, limit: BATCH })).map((row) => row.id);
    const done = ids.length === 0 ? 0 : await invalidateSome(api, caller, queue, ids, reason);
    invalidated += done;
    skipped += ids.length - done;
    if (ids.length < BATCH) return { invalidated, skipped };
    after = ids.at(-1) ?? '';
  }
}

async function invalidateSome(api: Api, caller: Caller, queue: string, ids: string[], reason: string): Promise<number> {
  const wanted = { state: 'invalidated' as const, items: ids.map((id) => ({ id })), reason, queue };
  const endings = await endTickets(api, caller, wanted);
  return endings.filter((e) => 'item' in e && e.item.queue === queue).length;
}
