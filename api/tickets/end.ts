import { z } from '@hono/zod-openapi';
import { Whole } from '../../contract/common.ts';
import * as contract from '../../contract/tickets.ts';
import { ticketView } from '../../domain/tickets.ts';
import * as endings from '../../services/tickets/endings.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { queueByName, ticketById } from '../views.ts';

const Invalidated = z.object({ invalidated: Whole, skipped: Whole });

export const resolveTicket = endpoint('resolveTicket', 'POST /v1/tickets/{id}/resolve', {
  ...ticketById,
  summary: 'Decided by another system or an operator, in any open state',
  roles: ['producer', 'supervisor'],
  body: contract.Resolve,
  answers: { 200: contract.Ticket },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller: { actor }, params: { id }, body: { decision, reason } }) {
    const item = await endings.endOne(ctx, { state: 'settled', id, result: decision, reason, actor });
    return ok(ticketView(item));
  },
});

export const resolveTickets = endpoint('resolveTickets', 'POST /v1/tickets/resolve', {
  tag: 'Tickets',
  summary: 'The same for up to 1,000 tickets, each with its own outcome, or for the open ones of a subject',
  roles: ['producer', 'supervisor'],
  scope: {
    queue: ({ body }) => body.filter?.queue,
    item: ({ body: { items } }) => items && ['ticket', ...items.map(({ id }) => id)],
  },
  body: contract.ResolveMany,
  bodyLimit: LARGE_BODY,
  answers: { 200: contract.BatchResults.or(z.object({ resolved: Whole, skipped: Whole }).openapi('ResolvedSubject')) },
  async handle({ ctx, caller: { actor }, body: { items = [], filter, decision, reason, dryRun } }) {
    if (filter) {
      const closing = { state: 'settled', result: decision, reason, actor } as const;
      const { ended, skipped } = await endings.endSubject(ctx, closing, filter, dryRun);
      return ok({ resolved: ended, skipped });
    }
    const wanted = items.map((i) => ({ id: i.id, result: i.decision }));
    const ended = await endings.end(ctx, { state: 'settled', items: wanted, reason, actor });
    const results = ended.map((e) =>
      'problem' in e
        ? { id: e.id, httpStatus: e.problem.status, code: e.problem.code, detail: e.problem.message }
        : { id: e.id, httpStatus: 200 },
    );
    return ok({ results });
  },
});

export const invalidateTicket = endpoint('invalidateTicket', 'POST /v1/tickets/{id}/invalidate', {
  ...ticketById,
  summary: 'No one needs to decide it any more; a holder is notified',
  roles: ['producer', 'supervisor'],
  body: contract.Invalidate,
  answers: { 200: contract.Ticket },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller: { actor }, params: { id }, body: { reason } }) {
    return ok(ticketView(await endings.endOne(ctx, { state: 'invalidated', id, reason, actor })));
  },
});

export const invalidateSubject = endpoint('invalidateSubject', 'POST /v1/tickets/invalidate', {
  tag: 'Tickets',
  summary: 'The same for the open tickets of a subject, in one queue or in all',
  roles: ['producer', 'supervisor'],
  scope: { queue: ({ body }) => body.filter.queue },
  body: contract.InvalidateSubject,
  answers: { 200: Invalidated },
  async handle({ ctx, caller: { actor }, body: { filter, reason, dryRun } }) {
    const { ended, skipped } = await endings.endSubject(ctx, { state: 'invalidated', reason, actor }, filter, dryRun);
    return ok({ invalidated: ended, skipped });
  },
});

export const invalidateTickets = endpoint('invalidateTickets', 'POST /v1/queues/{queue}/invalidate', {
  ...queueByName,
  tag: 'Tickets',
  summary: 'The same for many: by id or by filter, with a dry run',
  roles: ['producer', 'supervisor'],
  body: contract.InvalidateMany,
  bodyLimit: LARGE_BODY,
  answers: { 200: Invalidated },
  async handle({ ctx, caller: { actor }, params: { queue }, body }) {
    const { ids, filter = {}, reason, dryRun } = body;
    const of = { queue, reason, actor };
    if (ids) return ok(await endings.invalidateByIds(ctx, of, ids, dryRun));
    return ok(await endings.invalidateByFilter(ctx, of, filter, dryRun));
  },
});
