// What tickets are supposed to do, without a database, a clock or concurrency: the oracle of test/tickets/model.test.ts.
// Where an event leads to is the table's in domain/lifecycle.ts; the model knows when it happens.

import type { CoreState } from '../../contract/snapshot.ts';
import { coreState, isFinal, stateWord } from '../../domain/items.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';

export interface ModelLease {
  holder: string;
  /** Which claim gave it, for the order in which what is held is handed out again. */
  granted: number;
  end: null | 'settled' | 'released' | 'revoked' | 'transferred' | 'expired' | 'closed';
  /** What the decision's answer said was next; only where it was settled. */
  next?: string | null;
}

export interface NewModelTicket {
  queue: string;
  priority: number;
  requires: string[];
  exclude: string[];
}

export interface ModelTicket extends NewModelTicket {
  id: string;
  /** Place among those of the same priority: that of its creation. */
  order: number;
  first: NewModelTicket;
  state: 'waiting' | 'held' | 'decided' | 'invalidated' | 'dead';
  skipped: string[];
  leases: ModelLease[];
  decision: unknown;
  decidedBy: string | null;
  reason: string | null;
}

export interface ModelQueue {
  maxHeld: number;
  maxAttempts: number | null;
  paused: boolean;
}

/** Status and code of an answer. */
export type Outcome = { status: 200 | 201 } | { status: 409; code: 'not_open' | 'lease_lost' | 'id_conflict' };

const DONE: Outcome = { status: 200 };
const NOT_OPEN: Outcome = { status: 409, code: 'not_open' };
const LEASE_LOST: Outcome = { status: 409, code: 'lease_lost' };
const OPERATOR = 'anonymous';

export class Model {
  readonly tickets: ModelTicket[] = [];
  readonly queues: Record<string, ModelQueue>;
  expiries = 0;
  #grants = 0;

  constructor(queues: Record<string, ModelQueue>) {
    this.queues = queues;
  }

  add(id: string, sent: NewModelTicket): Outcome {
    const known = this.tickets.find((t) => t.id === id);
    if (known)
      return JSON.stringify(known.first) === JSON.stringify(sent) ? DONE : { status: 409, code: 'id_conflict' };
    const ending = { decision: null, decidedBy: null, reason: null };
    const fresh = { id, order: this.tickets.length, state: after('none', 'created'), skipped: [], leases: [] };
    this.tickets.push({ ...sent, ...ending, ...fresh, first: sent });
    return { status: 201 };
  }

  /** What a claim hands out: what is held first, then the best that is new. */
  claim(queue: string, reviewer: string, skills: string[], count: number): Record<'resumed' | 'fresh', ModelTicket[]> {
    const held = this.#heldBy(queue, reviewer);
    const room = Math.min(count, this.#queue(queue).maxHeld) - held.length;
    return { resumed: held.slice(0, count), fresh: this.#grant(queue, reviewer, skills, room) };
  }

  /** @param nth which of the ticket's leases is named; undefined: none that there ever was */
  decide(t: ModelTicket, nth: number | undefined, decision: unknown, next: boolean, skills: string[]): Outcome {
    const lease = nth === undefined ? undefined : t.leases[nth];
    if (lease?.end === 'settled') return JSON.stringify(t.decision) === JSON.stringify(decision) ? DONE : NOT_OPEN;
    if (!lease || lease.end !== null) return this.#refusal(t);
    this.#end(t, 'settled', 'decided');
    t.decision = decision;
    t.decidedBy = lease.holder;
    const room = Math.min(1, this.#queue(t.queue).maxHeld - this.#heldBy(t.queue, lease.holder).length);
    lease.next = next ? (this.#grant(t.queue, lease.holder, skills, room)[0]?.id ?? null) : null;
    return DONE;
  }

  renew(t: ModelTicket, nth: number | undefined): Outcome {
    return nth !== undefined && t.leases[nth]?.end === null ? DONE : this.#refusal(t);
  }

  /** @param nth null: an operator takes it away */
  release(t: ModelTicket, nth: number | null | undefined, skip: boolean): Outcome {
    const named = nth === null ? t.leases.at(-1) : nth === undefined ? undefined : t.leases[nth];
    if (named?.end === null) {
      if (skip && !t.skipped.includes(named.holder)) t.skipped.push(named.holder);
      this.#end(t, nth === null ? 'revoked' : 'released', this.#isLast(t) ? 'dead' : skip ? 'skipped' : 'released');
      return DONE;
    }
    if (nth !== null && named?.end === 'released' && this.#isOpen(t)) return DONE;
    return this.#refusal(t);
  }

  transfer(t: ModelTicket, nth: number | null | undefined, queue: string): Outcome {
    const named = nth === undefined || nth === null ? undefined : t.leases[nth];
    if (this.#isOpen(t) && (nth === null || named?.end === null)) {
      this.#end(t, 'transferred', 'transferred');
      t.queue = queue;
      return DONE;
    }
    if (named?.end === 'transferred' && this.#isOpen(t) && t.queue === queue) return DONE;
    return this.#refusal(t);
  }

  patch(t: ModelTicket, change: Partial<NewModelTicket>): Outcome {
    if (!this.#isOpen(t)) return NOT_OPEN;
    Object.assign(t, change);
    const live = t.leases.find((l) => l.end === null);
    if (live && t.exclude.includes(live.holder)) this.#end(t, 'revoked', this.#isLast(t) ? 'dead' : 'released');
    return DONE;
  }

  invalidate(t: ModelTicket, reason: string): Outcome {
    if (!this.#isOpen(t)) return t.state === 'invalidated' && t.reason === reason ? DONE : NOT_OPEN;
    this.#end(t, 'closed', 'invalidated');
    t.reason = reason;
    return DONE;
  }

  resolve(t: ModelTicket, decision: unknown, reason: string): Outcome {
    const same =
      t.decidedBy === OPERATOR && t.reason === reason && JSON.stringify(t.decision) === JSON.stringify(decision);
    if (!this.#isOpen(t)) return t.state === 'decided' && same ? DONE : NOT_OPEN;
    this.#end(t, 'closed', 'decided');
    Object.assign(t, { decision, reason, decidedBy: OPERATOR });
    return DONE;
  }

  /** Its lease runs out. */
  expire(t: ModelTicket): void {
    if (t.state !== 'held') return;
    this.expiries++;
    this.#end(t, 'expired', this.#isLast(t) ? 'dead' : 'reclaimed');
  }

  count(queue: string, state: ModelTicket['state']): number {
    return this.tickets.filter((t) => t.queue === queue && t.state === state).length;
  }

  #grant(queue: string, reviewer: string, skills: string[], room: number): ModelTicket[] {
    if (this.#queue(queue).paused || room <= 0) return [];
    const best = this.tickets
      .filter((t) => t.queue === queue && t.state === 'waiting' && t.requires.every((r) => skills.includes(r)))
      .filter((t) => !t.exclude.includes(reviewer) && !t.skipped.includes(reviewer))
      .sort(byRank)
      .slice(0, room);
    this.#grants++;
    for (const t of best) {
      t.state = after(t.state, 'claimed');
      t.leases.push({ holder: reviewer, granted: this.#grants, end: null });
    }
    return best;
  }

  #end(t: ModelTicket, end: Exclude<ModelLease['end'], null>, event: string): void {
    const live = t.leases.find((l) => l.end === null);
    if (live) live.end = end;
    t.state = after(t.state, event);
  }

  #heldBy(queue: string, reviewer: string): ModelTicket[] {
    const granted = (t: ModelTicket) => t.leases.at(-1)?.granted ?? 0;
    return this.tickets
      .filter((t) => t.queue === queue && t.state === 'held' && t.leases.at(-1)?.holder === reviewer)
      .sort((a, b) => granted(a) - granted(b) || byRank(a, b));
  }

  #queue(name: string): ModelQueue {
    const queue = this.queues[name];
    if (!queue) throw new Error(`the model has no queue ${name}`);
    return queue;
  }

  #isLast = (t: ModelTicket) => t.leases.length >= (this.#queue(t.queue).maxAttempts ?? Number.POSITIVE_INFINITY);
  #isOpen = (t: ModelTicket) => !isFinal(coreOf(t.state));
  #refusal = (t: ModelTicket) => (this.#isOpen(t) ? LEASE_LOST : NOT_OPEN);
}

/** Among those that wait, and among those of one claim. */
const byRank = (a: ModelTicket, b: ModelTicket) => b.priority - a.priority || a.order - b.order;
const coreOf = (state: ModelTicket['state']) => coreState('ticket', state) as CoreState;

/** Where an event leads a ticket. Nothing is delayed here, so it is never the other one of two. */
function after(state: ModelTicket['state'] | 'none', event: string): ModelTicket['state'] {
  const from = state === 'none' ? state : coreOf(state);
  const next = transitionsOf('ticket').find((t) => t.from === from && t.event === event && t.to !== 'delayed');
  if (!next) throw new Error(`a ticket that is ${state} cannot be ${event}`);
  return stateWord('ticket', next.to) as ModelTicket['state'];
}
