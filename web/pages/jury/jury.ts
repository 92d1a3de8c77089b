import { signal } from '@preact/signals';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { StreamEvent } from '../../api/stream.ts';
import { isRenewalDue, type Lease, leaseUntil, now } from '../desk/lease.ts';
import { type Case, type CaseCalls, causeOf } from './calls.ts';

export interface Hold extends Lease {
  case: Case;
  token: string;
  /** The system gave it, so that it can be declined. */
  invited: boolean;
  /** It was changed while it stood there. */
  changed: boolean;
}

/** A case that was taken from the juror while they read. */
export interface Ended {
  case: Case;
  cause: string;
}

/** What someone has chosen and written about a case, and not sent. */
export interface Opinion {
  option: string | null;
  comment: string;
}

type Opinions = Readonly<Record<string, Opinion>>;

const STORED = 'docket.opinions';

function storedOpinions(): Opinions {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '{}') as Opinions;
  } catch {
    return {};
  }
}

type Reasons = NonNullable<Schemas['ClaimCaseAnswer']['reasons']>;

const TICK_MS = 500;
/** How often to ask again while there is nothing; less often where only time or someone else can help. */
const AGAIN_MS = 5_000;
const LATER_MS = 30_000;
const NO_OPINION: Opinion = { option: null, comment: '' };

/** A juror's desk at one court: claims a case, keeps it while they read, votes. */
export class JuryDesk {
  readonly hold = signal<Hold | null>(null);
  readonly ended = signal<Ended | null>(null);
  readonly reasons = signal<Reasons | null>(null);
  readonly problem = signal<Problem | null>(null);
  /** What became of the last vote. */
  readonly voted = signal<Schemas['CastVoteAnswer'] | null>(null);
  readonly busy = signal(false);
  readonly opinions = signal(storedOpinions());
  readonly #calls: CaseCalls;
  /** Of this court: how long a lease lasts. */
  readonly #leaseMs: number;
  #claiming: AbortController | null = null;
  #renewing = false;
  #claimAt = 0;
  #closed = false;

  constructor(calls: CaseCalls, leaseMs: number) {
    this.#calls = calls;
    this.#leaseMs = leaseMs;
  }

  /** Begins to claim. @returns what ends it */
  open(): () => void {
    this.#closed = false;
    const timer = setInterval(() => this.#tick(), TICK_MS);
    void this.claim();
    return () => {
      clearInterval(timer);
      this.#closed = true;
      this.#claiming?.abort();
    };
  }

  /** Asks for a case, unless one is there or its end has not been seen yet. */
  async claim(): Promise<void> {
    if (this.#claiming || this.#closed || this.hold.value || this.ended.value) return;
    this.#claiming = new AbortController();
    try {
      const answer = await this.#calls.claim(this.#claiming.signal);
      this.problem.value = null;
      this.reasons.value = answer.reasons;
      if (answer.case && answer.lease) this.#take(answer.case, answer.lease, answer.resumed);
      const { windowFull = 0, fatigue = 0, notEligible = 0 } = answer.reasons ?? {};
      this.#claimAt = performance.now() + (windowFull + fatigue + notEligible > 0 ? LATER_MS : AGAIN_MS);
    } catch (error) {
      if (!this.#closed) this.problem.value = problemOf(error);
      this.#claimAt = performance.now() + AGAIN_MS;
    } finally {
      this.#claiming = null;
    }
  }

  #take(found: Case, { token, expiresAt }: { token: string; expiresAt: string }, resumed: boolean): void {
    const at = now();
    const began = Math.min(at.server, Date.parse(expiresAt) - this.#leaseMs);
    this.hold.value = { ...leaseUntil(expiresAt, at, began), case: found, token, invited: false, changed: false };
    if (resumed) void this.#askInvited(token);
  }

  /** The case is there already: a notice that it has ended may come before the answer. */
  async #askInvited(token: string): Promise<void> {
    const invited = await this.#calls.isInvited(token).catch(() => false);
    const hold = this.hold.value;
    if (hold?.token === token) this.hold.value = { ...hold, invited };
  }

  opinionOf = (id: string): Opinion => this.opinions.value[id] ?? NO_OPINION;

  think(id: string, opinion: Partial<Opinion>): void {
    this.#keep({ ...this.opinions.value, [id]: { ...this.opinionOf(id), ...opinion } });
  }

  /** A reload of the page loses none of them. */
  #keep(opinions: Opinions): void {
    this.opinions.value = opinions;
    sessionStorage.setItem(STORED, JSON.stringify(opinions));
  }

  /** Votes as the juror has chosen. */
  async vote(): Promise<void> {
    const hold = this.hold.value;
    const { option, comment } = hold ? this.opinionOf(hold.case.id) : NO_OPINION;
    if (!hold || option === null) return;
    await this.#settle(hold, async () => {
      this.voted.value = await this.#calls.vote(hold.case.id, hold.token, option, comment.trim());
    });
  }

  /** Gives the case back for good: as an invitation that is declined, or as a case that is skipped. */
  async leave(): Promise<void> {
    const hold = this.hold.value;
    if (!hold) return;
    const { id } = hold.case;
    const leaving = hold.invited ? this.#calls.decline : this.#calls.skip;
    await this.#settle(hold, async () => {
      await leaving(id, hold.token);
    });
  }

  async #settle(hold: Hold, work: () => Promise<void>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    this.problem.value = null;
    try {
      await work();
      const { [hold.case.id]: _, ...others } = this.opinions.value;
      this.#keep(others);
      if (this.hold.value?.token === hold.token) this.hold.value = null;
    } catch (error) {
      const cause = causeOf(problemOf(error));
      if (cause) this.#end(hold.case.id, cause);
      else this.problem.value = problemOf(error);
    } finally {
      this.busy.value = false;
    }
    void this.claim();
  }

  /** The juror has seen that the case was taken from them. */
  goOn(): void {
    this.ended.value = null;
    void this.claim();
  }

  noticed({ type, kind, id, reason }: StreamEvent): void {
    if (type === 'invited') void this.claim();
    if (type === 'changed' && kind === 'case' && id !== undefined) void this.#see(id);
    // the answer to what is being sent says more
    if (type === 'lease_lost' && kind === 'case' && id !== undefined && !this.busy.value) this.#end(id, String(reason));
  }

  /** Notices may have been missed. */
  lookAgain(): void {
    const hold = this.hold.value;
    if (!hold || this.busy.value) return;
    void this.#renew(hold);
    void this.#see(hold.case.id);
  }

  /** Shows the case as it is now. */
  async #see(id: string): Promise<void> {
    const found = await this.#calls.get(id).catch(() => null);
    const hold = this.hold.value;
    if (!found || hold?.case.id !== id) return;
    const isChanged = JSON.stringify(found.body) !== JSON.stringify(hold.case.body);
    this.hold.value = { ...hold, case: { ...hold.case, ...found }, changed: hold.changed || isChanged };
  }

  #end(id: string, cause: string): void {
    const hold = this.hold.value;
    if (hold?.case.id !== id) return;
    this.ended.value = { case: hold.case, cause };
    this.hold.value = null;
  }

  #tick(): void {
    if (document.hidden) return;
    const hold = this.hold.value;
    if (!hold) {
      if (performance.now() > this.#claimAt) void this.claim();
      return;
    }
    // past its end the answer to a renewal says what has become of it
    if (isRenewalDue(hold) || hold.expiresMs + TICK_MS < serverNow()) void this.#renew(hold);
  }

  async #renew({ case: { id }, token }: Hold): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      const { expiresAt } = await this.#calls.renew(id, token);
      const hold = this.hold.value;
      if (hold?.token === token) this.hold.value = { ...hold, ...leaseUntil(expiresAt, now()) };
    } catch (error) {
      const cause = causeOf(problemOf(error));
      if (cause) this.#end(id, cause);
    } finally {
      this.#renewing = false;
    }
  }
}
