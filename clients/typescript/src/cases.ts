import { batches } from './batches.ts';
import { holdError } from './errors.ts';
import { listed } from './lists.ts';
import type { components } from './openapi.ts';
import { type BatchResult, type Held, tokenOf } from './tickets.ts';
import { type CallOptions, path, type Transport } from './transport.ts';

type Schemas = components['schemas'];

export type CourtSettings = Omit<Schemas['PutCourt'], 'dryRun'>;
export type Court = Schemas['Court'];
export type Case = Schemas['Case'];
/** `body` is any JSON. Without an `id` Docket makes one. */
export type NewCase = Schemas['NewCase'];
export type Juror = Schemas['PutJurors']['jurors'][number];
/** A case as it is handed to a juror. */
export interface HeldCase extends Case {
  lease: { token: string; expiresAt: string };
  resumed: boolean;
}
/** An open invitation; `id` is the case's. */
export interface Invitation {
  id: string;
  court: string;
  lease: { token: string; expiresAt: string };
}
export interface CaseClaim {
  case: HeldCase | null;
  /** Why there is none, as numbers of open cases. */
  reasons: Schemas['ClaimCaseAnswer']['reasons'];
}

/** What a call takes. */
const JURORS = 20_000;

/** Cases before courts of jurors: what producers and jurors do with them. */
export class Cases {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Replaces all settings of a court; they act at once. */
  async putCourt(court: string, settings: CourtSettings = {}): Promise<Court> {
    return this.#call('PUT', path`/v1/courts/${court}`, settings);
  }

  async getCourt(court: string, options?: CallOptions): Promise<Court> {
    return this.#call('GET', path`/v1/courts/${court}`, undefined, options);
  }

  /**
   * Adds or changes jurors, any number; with the name of a `list`, they replace all that the court has, at once.
   * @returns how many there are then
   */
  async putJurors(court: string, jurors: Iterable<Juror | string>, { list }: { list?: string } = {}): Promise<number> {
    const all = Array.from(jurors, (juror) => (typeof juror === 'string' ? { id: juror } : juror));
    const chunks = Array.from({ length: Math.max(1, Math.ceil(all.length / JURORS)) }, (_, n) =>
      all.slice(n * JURORS, (n + 1) * JURORS),
    );
    let total = 0;
    for (const [n, jurors] of chunks.entries()) {
      const part = list !== undefined && { list, first: n === 0, final: n === chunks.length - 1 };
      const sent: Schemas['PutJurors'] = { jurors, ...part };
      ({ total } = await this.#call<{ total: number }>('PUT', path`/v1/courts/${court}/jurors`, sent));
    }
    return total;
  }

  /**
   * Brings a case before a court, or finds it with the same id and content.
   * @throws HttpError with code `id_conflict` when the id stands for another one, `not_found` without the court
   */
  async add(court: string, sent: NewCase): Promise<Case> {
    const headers = sent.id === undefined ? { 'idempotency-key': crypto.randomUUID() } : undefined;
    return this.#call('POST', path`/v1/courts/${court}/cases`, sent, { ...(headers && { headers }) });
  }

  /** Any number of cases; each is added or refused by itself, in the order given. Those without an id get one here. */
  async addMany(court: string, cases: Iterable<NewCase>): Promise<BatchResult[]> {
    const results: BatchResult[] = [];
    const named = Array.from(cases, (one) => ({ ...one, id: one.id ?? crypto.randomUUID() }));
    for (const part of batches(named)) {
      const where = path`/v1/courts/${court}/cases/batch`;
      results.push(...(await this.#call<Schemas['BatchResults']>('POST', where, { cases: part })).results);
    }
    return results;
  }

  /** A case in whatever state it is, as far as the caller may see it. */
  async get(id: string, options?: CallOptions): Promise<Case> {
    return this.#call('GET', path`/v1/cases/${id}`, undefined, options);
  }

  /** The case that the juror holds, or a new one. `JurorLoop` does this and all that follows. */
  async claim(court: string, juror: string, options?: CallOptions): Promise<CaseClaim> {
    const where = path`/v1/courts/${court}/claim`;
    const answer = await this.#call<Schemas['ClaimCaseAnswer']>('POST', where, { juror }, options);
    const { case: item, lease, resumed, reasons } = answer;
    return { case: item && lease && { ...item, lease, resumed }, reasons };
  }

  /**
   * Votes on a case that is held; the same again is no error. `counted` is false where it came too late and the court
   * keeps such votes.
   * @throws LeaseLostError; NotOpenError when it was decided meanwhile
   */
  async vote(
    held: Held,
    option: string,
    { comment }: { comment?: string } = {},
  ): Promise<{ counted: boolean; case: Case }> {
    return this.#call('POST', path`/v1/cases/${held.id}/votes`, { token: tokenOf(held), option, comment });
  }

  /** A full lease again; its end. @throws LeaseLostError, NotOpenError */
  async renew(held: Held, options?: CallOptions): Promise<string> {
    const sent = { token: tokenOf(held) };
    const answer = await this.#call<{ expiresAt: string }>('POST', path`/v1/cases/${held.id}/renew`, sent, options);
    return answer.expiresAt;
  }

  /** Gives it back; with `skip` it is never offered to this juror again. @throws LeaseLostError, NotOpenError */
  async release(held: Held, { skip = false }: { skip?: boolean } = {}): Promise<Case> {
    return this.#call('POST', path`/v1/cases/${held.id}/release`, { token: tokenOf(held), skip });
  }

  /** Declines an invitation; another juror is invited instead. @throws LeaseLostError, NotOpenError */
  async decline(held: Held): Promise<Case> {
    return this.#call('POST', path`/v1/cases/${held.id}/decline`, { token: tokenOf(held) });
  }

  /** Ends an open case without a winner. @throws NotOpenError */
  async invalidate(id: string, { reason }: { reason: string }): Promise<Case> {
    return this.#call('POST', path`/v1/cases/${id}/invalidate`, { reason });
  }

  /**
   * Appeals against a verdict: a second case for jurors who have not voted on it; once more, the same one.
   * @throws HttpError with code `not_final`, `already_open`
   */
  async appeal(id: string, how: { reason?: string; by?: string } = {}): Promise<Case> {
    return this.#call('POST', path`/v1/cases/${id}/looks`, { cause: 'appeal', ...how });
  }

  /** A juror's open invitations, of all courts. */
  async *invitations(juror: string, options?: CallOptions): AsyncGenerator<Invitation, void, undefined> {
    type Listed = Schemas['Invitations']['items'][number];
    const all = listed<Listed>(this.#transport, path`/v1/jurors/${juror}/invitations`, {}, options);
    for await (const { case: id, court, ...lease } of all) yield { id, court, lease };
  }

  async #call<Answer>(...[method, where, body, options]: Parameters<Transport['call']>): Promise<Answer> {
    try {
      return (await this.#transport.call(method, where, body, options)) as Answer;
    } catch (error) {
      throw holdError(where, error);
    }
  }
}
