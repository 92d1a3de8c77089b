import { signal } from '@preact/signals';
import { data, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { isPassing, mayPass, type Problem, problemOf } from '../../api/problem.ts';
import { beforeSignOut, returned } from '../../api/signing.ts';
import type { StreamEvent } from '../../api/stream.ts';
import { unsent } from '../../unsaved.ts';
import { type Calls, causeOf } from './calls.ts';
import { Drafts } from './drafts.ts';
import { isRenewalDue, leaseUntil, now } from './lease.ts';
import * as steps from './shelf.ts';
import { type Cause, EMPTY, type Held, NOTHING, type Pending, type Shelf, type Tally } from './shelf.ts';

/** How long a decision can be undone. */
const UNDO_MS = 5_000;
/** A decision leaves so long before its lease ends at the latest. */
const MARGIN_MS = 1_500;
const TICK_MS = 500;
const WAIT_SECONDS = 25;
const RETRY_MS = 3_000;
const UNSEEN = { unseen: true, reason: 'claimed ahead, not seen' };

/** A reviewer's desk at one queue: claims, keeps, decides, and says what becomes of what they hold. */
export class Desk {
  readonly shelf = signal<Shelf>(EMPTY);
  /** Why the last claim found nothing more. */
  readonly nothing = signal<Schemas['Reasons'] | null>(null);
  /** Why claims fail. */
  readonly problem = signal<Problem | null>(null);
  readonly tally = signal<Tally>(NOTHING);
  readonly drafts: Drafts;
  /** As the queue's settings say. */
  maxHeld = 1;
  readonly #calls: Calls;
  readonly #busy = new Set<string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #claiming: AbortController | undefined;
  #closed = false;
  #filling = false;

  constructor(calls: Calls) {
    this.#calls = calls;
    this.drafts = new Drafts(calls, () => this.shelf.value);
  }

  /** Begins to claim. @returns what ends it */
  open(): () => void {
    this.#closed = false;
    const listening = new AbortController();
    const look = () => (document.hidden ? this.#claiming?.abort() : void this.fill());
    document.addEventListener('visibilitychange', look, listening);
    addEventListener('pagehide', () => this.#close(), listening);
    // the browser's Back may bring the page as it was, with tickets that it has given back
    addEventListener('pageshow', ({ persisted }) => persisted && location.reload(), listening);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    const stop = () => this.stop();
    beforeSignOut.add(stop);
    void this.fill();
    return () => {
      beforeSignOut.delete(stop);
      listening.abort();
      this.#close();
    };
  }

  /**
   * Someone who closes the tab or leaves for another page has decided; what they have not seen goes back at once, and what they
   * have filled in is kept.
   */
  #close(): void {
    clearInterval(this.#timer);
    this.#closed = true;
    this.#claiming?.abort();
    void this.sendNow();
    void this.#giveBack(this.shelf.value.ready);
    void this.drafts.save();
    unsent.delete(this.drafts);
  }

  #giveBack(all: readonly Held[]): Promise<unknown> {
    return Promise.all(all.map((held) => this.#calls.release(held, UNSEEN).catch(() => {})));
  }

  /** Claims until there is as much as should be; waits where there is nothing at all. */
  async fill(): Promise<void> {
    if (this.#filling) return;
    this.#filling = true;
    for (let wait = 0; ; wait = WAIT_SECONDS) {
      const count = steps.missing(this.shelf.value, this.maxHeld);
      if (count === 0 || this.#closed || document.hidden) break;
      const outcome = await this.#claim(count, wait);
      if (outcome === 'failed') await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      // with something in hand a claim would not wait: the next one comes with a decision
      const isAll = outcome === 'nothing' && steps.heldOf(this.shelf.value).length > 0;
      if (outcome === 'refused' || isAll) break;
    }
    this.#filling = false;
  }

  async #claim(missing: number, waitSeconds: number): Promise<'some' | 'nothing' | 'failed' | 'refused' | 'ended'> {
    const before = steps.heldOf(this.shelf.value).length;
    this.#claiming = new AbortController();
    const { signal } = this.#claiming;
    try {
      const wait = before === 0 ? waitSeconds : 0;
      const { tickets, reasons } = await data(this.#calls.claim(before + missing, wait, signal));
      this.problem.value = null;
      this.nothing.value = reasons;
      this.shelf.value = this.#take(this.shelf.value, tickets);
      return steps.heldOf(this.shelf.value).length > before ? 'some' : 'nothing';
    } catch (error) {
      if (signal.aborted) return 'ended';
      const problem = problemOf(error);
      this.problem.value = problem;
      return isPassing(problem) ? 'failed' : 'refused';
    }
  }

  #take(shelf: Shelf, tickets: readonly Schemas['HandedTicket'][]): Shelf {
    this.drafts.take(tickets.filter(({ id }) => !steps.has(shelf, id)));
    return steps.take(shelf, tickets, now());
  }

  /** Decides what stands before the reviewer. It is sent when it can no longer be undone, or when the next is decided. */
  decide(decision: unknown): void {
    const { current, pending } = this.shelf.value;
    if (!current) return;
    const { server, local } = now();
    const waitMs = Math.max(0, Math.min(UNDO_MS, current.expiresMs - server - MARGIN_MS));
    clearTimeout(this.#sendTimer);
    this.shelf.value = steps.decide(this.shelf.value, decision, local + waitMs, local);
    unsent.add(this);
    if (pending) void this.#send(pending);
    this.#sendTimer = setTimeout(() => void this.sendNow(), waitMs);
    void this.fill();
  }

  undo(): void {
    clearTimeout(this.#sendTimer);
    this.shelf.value = steps.undo(this.shelf.value);
  }

  async sendNow(): Promise<void> {
    clearTimeout(this.#sendTimer);
    const { pending } = this.shelf.value;
    if (!pending) return;
    this.shelf.value = steps.startSending(this.shelf.value);
    await this.#send(pending);
  }

  async #send(pending: Pending): Promise<void> {
    const { held, decision, decidedAt } = pending;
    const { id } = held.ticket;
    // what no one sees is not taken
    const next = !this.#closed && !document.hidden && steps.missing(steps.drop(this.shelf.value, id), this.maxHeld) > 0;
    try {
      const { next: handed, synced } = await data(this.#calls.decide(pending, next));
      const rest = steps.drop(this.shelf.value, id);
      this.shelf.value = handed && !this.#closed ? this.#take(rest, [handed]) : rest;
      if (handed && this.#closed) this.#giveBack(steps.heldFrom(handed, now()));
      const deciding = decidedAt - (held.shownAt ?? decidedAt);
      const tally = this.tally.value;
      const decidingMs = tally.decidingMs + deciding;
      this.tally.value = { ...tally, decided: tally.decided + 1, synced: tally.synced + synced, decidingMs };
    } catch (error) {
      const problem = problemOf(error);
      const cause = causeOf(problem);
      if (mayPass(problem) && held.expiresMs > serverNow()) return this.#sendAgain(pending, problem);
      if (cause) this.#lose(id, cause, decision);
      else this.shelf.value = steps.recallRefused(this.shelf.value, held, problem.code === 'changed' ? null : problem);
      if (problem.code === 'changed') void this.#see(id, true);
    }
    if (!steps.isSending(this.shelf.value)) unsent.delete(this);
    void this.fill();
  }

  /** The same decision with the same token is taken once, however often it arrives. */
  async #sendAgain(pending: Pending, problem: Problem): Promise<void> {
    this.problem.value = problem;
    await (isPassing(problem) ? new Promise((resolve) => setTimeout(resolve, RETRY_MS)) : returned());
    this.problem.value = null;
    await this.#send(pending);
  }

  /** Gives back what stands before the reviewer, for good. @throws CallError */
  async skip(reason: string): Promise<void> {
    if (await this.#leave((held) => this.#calls.release(held, { skip: true, ...(reason && { reason }) })))
      this.#count('skipped');
  }

  /** @throws CallError */
  async transfer(queue: string, reason: string): Promise<void> {
    if (await this.#leave((held) => this.#calls.transfer(held, queue, reason))) this.#count('transferred');
  }

  /** Gives everything back, so that others can go on with it. A decision that waits is sent. */
  async stop(): Promise<void> {
    this.#closed = true;
    this.#claiming?.abort();
    const sent = this.sendNow();
    await this.drafts.save();
    const { current, ready } = this.shelf.value;
    this.shelf.value = { ...this.shelf.value, current: null, ready: [] };
    await Promise.all([sent, this.#giveBack(ready), current && this.#calls.release(current, {}).catch(() => {})]);
  }

  async #leave(call: (held: Held) => Promise<unknown>): Promise<boolean> {
    const { current } = this.shelf.value;
    if (!current) return false;
    const { id } = current.ticket;
    try {
      await call(current);
    } catch (error) {
      const cause = causeOf(problemOf(error));
      if (!cause || (cause.reason === 'gone' && (await this.#calls.isThere(id)))) throw error;
      this.#lose(id, cause);
      return false;
    }
    this.shelf.value = steps.shown(steps.drop(this.shelf.value, id), performance.now());
    void this.fill();
    return true;
  }

  /** The reviewer has seen that they lost one. */
  goOn(): void {
    this.shelf.value = steps.shown({ ...this.shelf.value, lost: null }, performance.now());
    void this.fill();
  }

  /** They have seen which decisions came too late. */
  dismissLate(): void {
    this.shelf.value = { ...this.shelf.value, late: [] };
  }

  noticed({ type, kind, id, reason, by }: StreamEvent): void {
    if (kind !== 'ticket' || id === undefined) return;
    if (type === 'lease_lost') this.#lose(id, { reason: String(reason), by: by === undefined ? null : String(by) });
    if (type === 'changed') void this.#see(id, true);
  }

  /** Notices may have been missed: looks at everything that is held. */
  lookAgain(): void {
    for (const { ticket } of steps.heldOf(this.shelf.value)) void this.#see(ticket.id, false);
  }

  #lose(id: string, cause: Cause, decision?: unknown): void {
    // what is being sent has an answer of its own
    if (decision === undefined && this.shelf.value.sending.some(({ ticket }) => ticket.id === id)) return;
    if (!steps.has(this.shelf.value, id)) return;
    const isOwn = cause.by === this.#calls.reviewer;
    const why = isOwn ? { reason: cause.reason === 'decided' ? 'decidedElsewhere' : cause.reason, by: null } : cause;
    const { late, lost } = this.shelf.value;
    this.shelf.value = steps.lose(this.shelf.value, id, why, decision);
    if (this.shelf.value.lost !== lost || this.shelf.value.late !== late) this.#count('lost');
    void this.fill();
  }

  #count(what: 'skipped' | 'transferred' | 'lost'): void {
    this.tally.value = { ...this.tally.value, [what]: this.tally.value[what] + 1 };
  }

  #tick(): void {
    for (const held of steps.heldOf(this.shelf.value)) {
      const { id } = held.ticket;
      if (held.expiresMs + MARGIN_MS < serverNow()) void this.#once(id, () => this.#see(id, false));
      else if (isRenewalDue(held)) void this.#once(id, () => this.#renew(held));
    }
  }

  async #renew({ token, ticket: { id } }: Held): Promise<void> {
    try {
      const { expiresAt } = await data(this.#calls.renew(id, token));
      const renewed = leaseUntil(expiresAt, now());
      this.shelf.value = steps.change(this.shelf.value, id, (held) => ({ ...held, ...renewed }));
    } catch (error) {
      const cause = causeOf(problemOf(error));
      if (cause) this.#lose(id, cause);
    }
  }

  /** Whether it is still this reviewer's, and how it looks now. */
  async #see(id: string, isChanged: boolean): Promise<void> {
    const held = steps.heldOf(this.shelf.value).find(({ ticket }) => ticket.id === id);
    const found = held && (await this.#calls.get(id).catch(() => null));
    if (!held || !found) return;
    const isMine = found.lease?.reviewer === this.#calls.reviewer && found.attempts === held.ticket.attempts;
    if (!isMine) return this.#lose(id, this.#calls.causeIn(found));
    const ticket = { ...held.ticket, ...found, lease: held.ticket.lease };
    const seen = (one: Held) => ({ ...one, ticket, changed: one.changed || isChanged });
    this.shelf.value = steps.change(this.shelf.value, id, seen);
  }

  /** Not twice at once for the same ticket. */
  async #once(id: string, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(id)) return;
    this.#busy.add(id);
    await work().finally(() => this.#busy.delete(id));
  }
}
