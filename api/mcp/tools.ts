import { z } from '@hono/zod-openapi';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { PROBLEM_HELP } from '../../contract/problem-help.ts';
import type { ClaimAnswer, DecideAnswer, ExplainAnswer, Ticket } from '../../contract/tickets.ts';
import type { Problem } from '../../services/shared/service.ts';
import type { AnyEndpoint } from '../endpoint.ts';

export type TicketView = z.output<typeof Ticket>;
export type ProblemView = ReturnType<Problem['toJSON']> & { holder?: unknown };

/** A tool: an endpoint, and words about it for a model. */
interface ToolDefinition {
  operation: string;
  description: string;
  annotations: Tool['annotations'];
  /** The first sentences of a result: what the endpoint's answer means, and what to do next. */
  say(answer: never): string;
}

export const TOOLS: Record<string, ToolDefinition> = {
  request_decision: {
    operation: 'addTicket',
    description:
      'Requests a decision: adds a ticket to a queue, where a reviewer decides it. This may take minutes or days. ' +
      '`body` is what the reviewer sees. Give an `id` of your own: the same call again adds nothing and ' +
      'answers the state of the ticket, with its decision once there is one.',
    annotations: { destructiveHint: false, idempotentHint: true },
    say: requested,
  },
  claim: {
    operation: 'claimTickets',
    description:
      'Hands you the next tickets of a queue to decide; those that you hold come first. Each has a lease with a token, ' +
      'which ends at `expiresAt`. With `waitSeconds` (up to 60) the call waits for a ticket where there is none.',
    annotations: { destructiveHint: false },
    say: claimed,
  },
  renew: {
    operation: 'renewTicket',
    description: 'Makes the lease of a ticket that you hold a full one again. Call it before `expiresAt`.',
    annotations: { destructiveHint: false, idempotentHint: true },
    say: ({ expiresAt }: { expiresAt: string }) => `The ticket is yours until ${expiresAt}.`,
  },
  decide: {
    operation: 'decideTicket',
    description:
      'Decides a ticket that you hold, for good. The same decision again has the same answer. ' +
      '`next: true` also hands you the next ticket.',
    annotations: { destructiveHint: true, idempotentHint: true },
    say: decided,
  },
  release: {
    operation: 'releaseTicket',
    description: 'Gives back a ticket that you hold. With `skip: true` it is never offered to you again.',
    annotations: { destructiveHint: false },
    say: ({ id }: TicketView) => `Ticket ${id} was given back. Its token is not valid any more.`,
  },
  explain: {
    operation: 'explainClaim',
    description:
      'Explains why a claim of a queue gets nothing or, with `ticket`, whether a claim would get that ticket, ' +
      'why not, and how many go before it.',
    annotations: { readOnlyHint: true },
    say: explained,
  },
};

/** How `tools/list` shows a tool: its arguments are the endpoint's parameters of the path and the fields of its body. */
export function shownTool(name: string, e: AnyEndpoint, { description, annotations }: ToolDefinition): Tool {
  const shape = { ...(e.params as z.ZodObject).shape, ...(e.body as z.ZodObject).shape };
  const inputSchema = z.toJSONSchema(z.strictObject(shape), {
    io: 'input',
    // not every client can read their look-ahead; the endpoint checks them
    override: ({ jsonSchema }) => void delete jsonSchema.pattern,
  });
  return { name, description, annotations, inputSchema: inputSchema as Tool['inputSchema'] };
}

/** Sentences for a model, then all that the endpoint answers; programs find that as `structuredContent`. */
export const resultOf = (text: string, answer: object): CallToolResult => ({
  content: [{ type: 'text', text: `${text}\n\n${JSON.stringify(answer)}` }],
  structuredContent: { ...answer },
});

/** What is wrong, who holds the ticket where the caller may know, and what to do. */
export function problemText({ code, detail, holder }: ProblemView): string {
  const held = typeof holder === 'string' ? ` ${holder} holds it now.` : '';
  return `${code}: ${detail}.${held} ${PROBLEM_HELP[code].action}`;
}

export const isOpen = ({ state }: TicketView) => state === 'delayed' || state === 'waiting' || state === 'held';

/** What has become of a ticket, for whoever requested its decision. */
export function stateOf(ticket: TicketView): string {
  const { id, queue, state, decidedBy, decision, reason, invalidation, lease, attempts } = ticket;
  switch (state) {
    case 'decided':
      return `Ticket ${id} was decided by ${decidedBy}${because(reason)}. The decision: ${JSON.stringify(decision)}`;
    case 'invalidated':
      return `Ticket ${id} will not be decided: ${invalidation?.by} invalidated it${because(invalidation?.reason)}.`;
    case 'expired':
      return `Ticket ${id} was not decided before its deadline. To ask again, use another id.`;
    case 'dead':
      return `Ticket ${id} was handed out ${attempts} times and not decided. To ask again, use another id.`;
    default:
      return `Ticket ${id} is in the queue ${queue} and not decided yet${lease ? `; ${lease.reviewer} holds it` : ''}.`;
  }
}

function requested(ticket: TicketView): string {
  return stateOf(ticket) + (isOpen(ticket) ? ' Do other work, and make the same call with this id later.' : '');
}

function claimed({ tickets, reasons, retryAfterSeconds }: z.output<typeof ClaimAnswer>): string {
  if (tickets.length > 0)
    return (
      `You hold ${tickets.length === 1 ? 'one ticket' : `${tickets.length} tickets`}. Before lease.expiresAt of each, ` +
      'call decide with its id, its lease.token as token, and a decision. For more time, renew; to give up, release.'
    );
  const counts = Object.entries(reasons ?? {}).flatMap(([why, n]) => (n > 0 ? `${why} ${n}` : []));
  return `No ticket for you now${because(counts.join(', '))}. Claim again in ${retryAfterSeconds} seconds, or with waitSeconds.`;
}

function decided({ ticket, next }: z.output<typeof DecideAnswer>): string {
  const held = next ? ` You hold ticket ${next.id} now; its token is next.lease.token.` : '';
  return `Ticket ${ticket.id} is decided.${held}`;
}

function explained(answer: z.output<typeof ExplainAnswer>): string {
  if ('reasons' in answer) return 'Tickets of the queue that a claim does not get, by reason:';
  const gets = answer.offered ? 'gets' : 'does not get';
  return `A claim ${gets} this ticket${because(answer.why.join(', '))}. Tickets before it: ${answer.ahead}.`;
}

const because = (reason: string | null | undefined) => (reason ? ` (${reason})` : '');
