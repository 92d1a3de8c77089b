import { z } from '@hono/zod-openapi';
import { PageByTime, pageOf } from '../../contract/common.ts';
import type { Role } from '../../contract/keys.ts';
import { TicketFilter, TicketPage } from '../../contract/lists.ts';
import { Ticket } from '../../contract/tickets.ts';
import { coreState } from '../../domain/items.ts';
import type { Context } from '../../services/shared/service.ts';
import * as lists from '../../services/tickets/lists.ts';
import * as looks from '../../services/tickets/looks.ts';
import { type Caller, personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { inScope } from '../scopes.ts';
import { ndjson } from '../streams/sse.ts';
import { csvCell, csvHeaders, page, timePosition } from '../views.ts';
import { personOfLook, readable } from './get.ts';

type Shown = ReturnType<typeof readable>;
type Filter = z.output<typeof TicketFilter>;
type Cursor = z.output<typeof PageByTime>['cursor'];

/**
 * A page of what fits a filter. An agent may be at a blind look for anyone: by what shows in a decision they find nothing
 * that has an open look.
 */
async function pageFor(ctx: Context, caller: Caller, filter: Filter, limit: number, cursor: Cursor) {
  const { queue, state, reviewer, createdAfter, createdBefore, subject, category, text, order, ...decided } = filter;
  const person = caller.role === 'reviewer' ? personOf(caller, reviewer) : reviewer;
  const isByDecision = Object.values(decided).some((value) => value !== undefined);
  const walked = {
    subject,
    category,
    text,
    order: order === 'oldest' ? order : undefined,
    ...decided,
    unseen: (caller.role === 'agent' && isByDecision) || undefined,
  };
  const basic = { queue, state: state && coreState('ticket', state), person, createdAfter, createdBefore };
  const { rows, walkedTo } = await lists.list(ctx, { ...basic, before: cursor }, walked, limit + 1);
  const found = await looks.current(ctx, rows, personOfLook(caller));
  const { items, nextCursor } = page(
    found,
    limit,
    (ticket) => readable(caller, ticket),
    (ticket) => timePosition(ticket.created_at, { seq: ticket.look?.seq ?? ticket.seq }),
  );
  return { items, nextCursor: walkedTo ? timePosition(new Date(walkedTo.time), walkedTo) : nextCursor };
}

const shared = {
  ...{ tag: 'Tickets' as const, roles: ['producer', 'reviewer', 'agent', 'supervisor'] as Role[] },
  scope: { list: 'queue', queue: ({ query }: { query: Filter }) => query.queue },
};

export const listTickets = endpoint('listTickets', 'GET /v1/tickets', {
  ...shared,
  summary: 'Tickets that fit all filters. A page may end early, after 10,000 that do not fit',
  query: TicketPage,
  answers: { 200: pageOf(Ticket) },
  handle: async ({ ctx, caller, query: { limit, cursor, ...filter } }) =>
    ok(await pageFor(ctx, caller, filter, limit, cursor)),
});

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

const COLUMNS = [
  ...(['id', 'queue', 'state', 'priority', 'subject', 'category', 'createdAt', 'holder', 'decidedBy'] as const),
  ...(['decidedAt', 'decision', 'reason', 'automation', 'standing', 'standingBy', 'body'] as const),
];

function lineOf(ticket: Shown): string {
  const { lease, reason, invalidation, standing } = ticket;
  const flat = { holder: lease?.reviewer, standing: standing?.decision, standingBy: standing?.by };
  const row = { ...ticket, ...flat, reason: reason ?? invalidation?.reason };
  return COLUMNS.map((name) => csvCell(text(row[name]))).join(',');
}

/** Rows that are read at once. */
const ROWS = 500;

export const listTicketsCsv = endpoint('listTicketsCsv', 'GET /v1/tickets.csv', {
  ...shared,
  summary: 'All tickets that fit all filters, as a table',
  query: TicketFilter,
  answers: { 200: z.string() },
  media: 'text/csv',
  async handle({ ctx, caller, query, cut, holdPart }) {
    const read = async (cursor: Cursor) => {
      const { items, nextCursor } = await pageFor(ctx, caller, query, ROWS, cursor);
      return { items: items.filter(({ queue }) => inScope(caller, queue)), nextCursor };
    };
    // the first page is read before the answer begins, so that an unreachable database is a 503
    const first = await read(undefined);
    async function* lines(ended: AbortSignal): AsyncGenerator<string> {
      let last = first;
      yield [COLUMNS.join(','), ...last.items.map(lineOf), ''].join('\r\n');
      while (last.nextCursor !== null && !ended.aborted) {
        last = await read(PageByTime.shape.cursor.parse(last.nextCursor));
        if (last.items.length > 0) yield last.items.map((ticket) => `${lineOf(ticket)}\r\n`).join('');
      }
    }
    return ndjson(lines, {
      endless: false,
      headers: csvHeaders('tickets'),
      allowed: async () => true,
      hold: holdPart,
      failed(error) {
        ctx.log.warn({ err: (error as Error).message }, 'a table of tickets broke off');
        cut();
      },
    });
  },
});
