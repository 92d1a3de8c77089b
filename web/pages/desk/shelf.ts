import type { Schemas } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import { type Lease, leaseUntil, type Now } from './lease.ts';

// What a reviewer holds, as pure steps from one state to the next.

type Ticket = Schemas['HandedTicket'];

export interface Held extends Lease {
  ticket: Ticket;
  token: string;
  /** When it first stood before the reviewer, on the same clock; null: not yet. */
  shownAt: number | null;
  /** It was changed while it stood there. */
  changed: boolean;
  /** Why its decision was not taken. */
  problem: Problem | null;
}

/** A decision that is not sent yet, so that it can be undone. */
export interface Pending {
  held: Held;
  decision: unknown;
  /** Of the ticket as it was seen: of one that is changed meanwhile the decision is not taken. */
  version: number;
  /** When it was made and when it will be sent, on the clock of `performance.now()`. */
  decidedAt: number;
  sendAt: number;
}

/** Whether a decision on a ticket also decides others of its subject; how many is for the server to find. */
export const decidesOthers = ({ subject, of }: Ticket, { sync }: Schemas['Queue']): boolean =>
  sync === 'subject' && subject !== null && !of;

/** Why a ticket is not the reviewer's any more: `expired`, `revoked`, `invalidated`, … */
export interface Cause {
  reason: string;
  by: string | null;
}

export interface Lost {
  ticket: Ticket;
  cause: Cause;
  /** What had been decided, where that was too late. */
  decision: unknown;
}

export interface Shelf {
  /** Stands before the reviewer. */
  current: Held | null;
  /** Claimed ahead. */
  ready: readonly Held[];
  pending: Pending | null;
  sending: readonly Held[];
  /** The ticket that stood before the reviewer until it was lost; nothing else is shown until they have seen that. */
  lost: Lost | null;
  /** Decisions that came too late. */
  late: readonly Lost[];
}

export const EMPTY: Shelf = { current: null, ready: [], pending: null, sending: [], lost: null, late: [] };

export function heldOf({ current, ready, pending, sending }: Shelf): Held[] {
  return [...(current ? [current] : []), ...ready, ...(pending ? [pending.held] : []), ...sending];
}

/** How many more to claim: one before the reviewer and one behind it, as far as the queue lets them hold so many. */
export function missing(shelf: Shelf, maxHeld: number): number {
  if (shelf.lost) return 0;
  const toSee = (shelf.current ? 1 : 0) + shelf.ready.length;
  const wanted = maxHeld > 1 ? 2 : 1;
  return Math.max(0, Math.min(wanted - toSee, maxHeld - heldOf(shelf).length));
}

/** Puts what was handed out behind the rest; what is there already stays as it is. */
export function take(shelf: Shelf, tickets: readonly Ticket[], now: Now): Shelf {
  const known = new Set(heldOf(shelf).map(({ ticket }) => ticket.id));
  const fresh = tickets.filter(({ id }) => !known.has(id)).flatMap((ticket) => heldFrom(ticket, now));
  return shown({ ...shelf, ready: [...shelf.ready, ...fresh] }, now.local);
}

/** What was handed out; nothing without a lease. */
export function heldFrom(ticket: Ticket, now: Now): Held[] {
  const { lease } = ticket;
  if (!lease?.token) return [];
  const until = leaseUntil(lease.expiresAt, now, Date.parse(lease.grantedAt));
  return [{ ...until, ticket, token: lease.token, shownAt: null, changed: false, problem: null }];
}

/** Brings the next one before the reviewer, if nothing is. */
export function shown(shelf: Shelf, local: number): Shelf {
  const [next, ...ready] = shelf.ready;
  if (shelf.current || shelf.lost || !next) return shelf;
  return { ...shelf, current: { ...next, shownAt: next.shownAt ?? local }, ready };
}

/** What stood before the reviewer is decided, and the next one comes. A decision that waited is sent by the caller. */
export function decide(shelf: Shelf, decision: unknown, sendAt: number, local: number): Shelf {
  if (!shelf.current) return shelf;
  const sending = shelf.pending ? [...shelf.sending, shelf.pending.held] : shelf.sending;
  const { version } = shelf.current.ticket;
  const pending = { held: { ...shelf.current, problem: null }, decision, version, decidedAt: local, sendAt };
  return shown({ ...shelf, current: null, pending, sending }, local);
}

/** Back before the reviewer, as if nothing had been decided. */
export function undo(shelf: Shelf): Shelf {
  return shelf.pending ? recall({ ...shelf, pending: null }, shelf.pending.held) : shelf;
}

export function startSending(shelf: Shelf): Shelf {
  if (!shelf.pending) return shelf;
  return { ...shelf, pending: null, sending: [...shelf.sending, shelf.pending.held] };
}

/** A decision that could not be taken as it is: its ticket comes back, with the reason where the ticket does not show it. */
export function recallRefused(shelf: Shelf, held: Held, problem: Problem | null): Shelf {
  if (!has(shelf, held.ticket.id)) return shelf;
  return recall(drop(shelf, held.ticket.id), { ...held, problem });
}

function recall(shelf: Shelf, held: Held): Shelf {
  const ready = shelf.current ? [shelf.current, ...shelf.ready] : shelf.ready;
  return { ...shelf, current: held, ready };
}

/** The reviewer holds it no more: decided, given back or lost. */
export function drop(shelf: Shelf, id: string): Shelf {
  const others = (held: Held) => held.ticket.id !== id;
  return {
    ...shelf,
    current: shelf.current && others(shelf.current) ? shelf.current : null,
    ready: shelf.ready.filter(others),
    pending: shelf.pending && others(shelf.pending.held) ? shelf.pending : null,
    sending: shelf.sending.filter(others),
  };
}

/** Someone or something else has it now. What stood before the reviewer leaves its draft; a decision under way was too late. */
export function lose(shelf: Shelf, id: string, cause: Cause, decision?: unknown): Shelf {
  const { current, pending } = shelf;
  const held = heldOf(shelf).find(({ ticket }) => ticket.id === id);
  if (!held) return shelf;
  const lost = { ticket: held.ticket, cause, decision: pending?.held === held ? pending.decision : decision };
  const without = drop(shelf, id);
  if (current === held) return { ...without, lost };
  return shelf.ready.includes(held) ? without : { ...without, late: [...shelf.late, lost] };
}

export const has = (shelf: Shelf, id: string) => heldOf(shelf).some(({ ticket }) => ticket.id === id);

/** Some decision is not with the server yet. */
export const isSending = ({ pending, sending }: Shelf) => pending !== null || sending.length > 0;

/** Changes one of what is held, wherever it stands. */
export function change(shelf: Shelf, id: string, how: (held: Held) => Held): Shelf {
  const one = (held: Held) => (held.ticket.id === id ? how(held) : held);
  return {
    ...shelf,
    current: shelf.current && one(shelf.current),
    ready: shelf.ready.map(one),
    pending: shelf.pending && { ...shelf.pending, held: one(shelf.pending.held) },
    sending: shelf.sending.map(one),
  };
}

/** What this tab has done since it was opened. */
export interface Tally {
  decided: number;
  /** With those, as they were of their subjects. */
  synced: number;
  skipped: number;
  transferred: number;
  lost: number;
  /** From when a ticket was shown to its decision, over all that were decided. */
  decidingMs: number;
}

export const NOTHING: Tally = { decided: 0, synced: 0, skipped: 0, transferred: 0, lost: 0, decidingMs: 0 };

/** Seconds for a ticket, on average; null: none was decided yet. */
export const secondsEach = ({ decided, decidingMs }: Tally) => (decided === 0 ? null : decidingMs / decided / 1000);
