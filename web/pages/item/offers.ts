import { api, data, type Schemas } from '../../api/client.ts';
import { moment, number } from '../../components/format.ts';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';

type Ticket = Schemas['Ticket'];

/** Whether a ticket is offered to a person, and why not; `ahead`: how many go before it. */
export interface Offer {
  offered: boolean;
  why: string[];
  ahead: number;
}

/** Asks the API. @throws CallError */
export async function explain(
  { id, queue }: Pick<Ticket, 'id' | 'queue'>,
  reviewer: string,
  skills: string[],
  signal?: AbortSignal,
): Promise<Offer> {
  const body = { ticket: id, reviewer, skills };
  const answer = await data(api.POST('/v1/queues/{queue}/explain', { params: { path: { queue } }, body, signal }));
  if (!('offered' in answer)) throw new Error('explain answered nothing about the ticket');
  return answer;
}

/** The name of no one in particular: who holds nothing and has skipped nothing. */
export function anybodyFor({ exclude }: Pick<Ticket, 'exclude'>): string {
  for (let n = 0; ; n++) if (!exclude.includes(`~${n}`)) return `~${n}`;
}

/** Why no one has a ticket, worst first, in sentences. `offer` is that of someone with all skills it requires. */
export function reasonsNobody(
  ticket: Ticket,
  { offered, why, ahead }: Offer,
  { claimsPerMinute }: Schemas['QueueStats'],
  t: Texts['items']['explain'],
): string[] {
  const { lease, requires, exclude } = ticket;
  const found: (string | false | undefined)[] = [
    lease !== null && t.isHeld(lease.reviewer, moment(lease.expiresAt)),
    ticket.state === 'delayed' && t.isDelayed(moment(ticket.availableAt)),
    why.includes('paused') && t.why.paused,
    offered && ahead > 0 && t.areAhead(number(ahead), ahead >= MOST_AHEAD),
    offered && ahead === 0 && t.isNext,
    lease === null && claimsPerMinute === 0 && t.noClaims(ticket.queue),
    lease === null && claimsPerMinute > 0 && t.claims(number(claimsPerMinute), ticket.queue),
    requires.length > 0 && t.requires(requires.join(', ')),
    exclude.length > 0 && t.excludes(exclude.join(', ')),
  ];
  return found.filter((line) => typeof line === 'string');
}

/** What keeps a ticket from someone: about them, or its state. */
export function reasonIn(code: string): string {
  const { explain, states } = texts.value.items;
  return explain.why[code] ?? states[code] ?? code;
}

/** The API counts no further. */
export const MOST_AHEAD = 1_000;
