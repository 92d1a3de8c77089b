import { batches } from './batches.ts';
import { holdError } from './errors.ts';
import { listed } from './lists.ts';
import type { components } from './openapi.ts';
import { type CallOptions, path, type Transport } from './transport.ts';

type Schemas = components['schemas'];

export type QueueSettings = Schemas['PutQueue'];
export type Queue = Schemas['Queue'];
export type Ticket = Schemas['Ticket'];
/** A ticket as a claim or a decision hands it to its holder. */
export type HandedTicket = Schemas['HandedTicket'];
export type TicketEvent = Schemas['TicketEvent'];
export type TicketState = Ticket['state'];
export type Callback = Schemas['Callback'];
/** Where a decision with an integer `status` goes: into a review. */
export type ReviewTarget = Schemas['ReviewTarget'];
/** `body` is any JSON. Without an `id` Docket makes one. */
export type NewTicket = Schemas['NewTicket'];
export type TicketChange = Schemas['PatchTicket'];
export interface TicketFilter {
  queue?: string;
  state?: TicketState;
  subject?: string;
  /** Who holds or decided them. */
  reviewer?: string;
  createdAfter?: string;
  createdBefore?: string;
  /** By when they were created; left out: the newest first. */
  order?: 'newest' | 'oldest';
}
/** Open tickets of a subject, in one queue or in all. */
export type SubjectFilter = Schemas['InvalidateSubject']['filter'];
export type NewLook = Schemas['AskForLook'];
export type Quality = Schemas['Quality'];
export type Draft = Schemas['Draft'];
export type Decided = Schemas['DecideAnswer'];
/** What became of one entry of a batch. */
export interface BatchResult {
  id: string | null;
  /** 201 added, 200 there already, 4xx refused. */
  httpStatus: number;
  code?: string;
  detail?: string;
}
export interface ClaimOptions extends CallOptions {
  reviewer: string;
  skills?: string[];
  /** How many the reviewer wants to hold; the queue's `maxHeld` bounds it. */
  count?: number;
}
export type Claim = Schemas['ClaimAnswer'];
/** Without `model` it is that of a model's key. */
export type NewSuggestion = Schemas['NewSuggestion'];
export type Suggestion = Schemas['Suggestion'];
export interface UnsuggestedOptions extends CallOptions {
  /** Left out: whose key it is. */
  model?: string;
  limit?: number;
}

/** What a claim gave, or anything else that names a lease. */
export interface Held {
  id: string;
  lease: { token?: string | null } | null;
}

/** Tickets: what producers and reviewers do with them. */
export class Tickets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Replaces all settings of a queue; they act at once. */
  async putQueue(queue: string, settings: QueueSettings = {}): Promise<Queue> {
    return this.#call('PUT', path`/v1/queues/${queue}`, settings);
  }

  async getQueue(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#call('GET', path`/v1/queues/${queue}`, undefined, options);
  }

  /**
   * Adds a ticket, or finds it with the same id and content.
   * @throws HttpError with code `id_conflict` when the id stands for another one
   */
  async add(queue: string, ticket: NewTicket): Promise<Ticket> {
    const headers = ticket.id === undefined ? { 'idempotency-key': crypto.randomUUID() } : undefined;
    return this.#call('POST', path`/v1/queues/${queue}/tickets`, ticket, { ...(headers && { headers }) });
  }

  /** Any number of tickets; each is added or refused by itself, in the order given. Those without an id get one here. */
  async addMany(queue: string, tickets: Iterable<NewTicket>): Promise<BatchResult[]> {
    const results: BatchResult[] = [];
    const named = Array.from(tickets, (ticket) => ({ ...ticket, id: ticket.id ?? crypto.randomUUID() }));
    for (const part of batches(named)) {
      const answer = await this.#call<Schemas['BatchResults']>('POST', path`/v1/queues/${queue}/tickets/batch`, {
        tickets: part,
      });
      results.push(...answer.results);
    }
    return results;
  }

  /** A ticket in whatever state it is. */
  async get(id: string): Promise<Ticket> {
    return this.#call('GET', path`/v1/tickets/${id}`, undefined);
  }

  /** Its whole history, oldest first. */
  events(id: string): AsyncGenerator<TicketEvent, void, undefined> {
    return listed(this.#transport, path`/v1/tickets/${id}/events`);
  }

  /** Newest first. */
  list(filter: TicketFilter = {}): AsyncGenerator<Ticket, void, undefined> {
    return listed(this.#transport, '/v1/tickets', { ...filter });
  }

  /** Decided by another system, whoever holds it. @throws NotOpenError */
  async resolve(id: string, { decision, reason }: { decision: unknown; reason: string }): Promise<Ticket> {
    return this.#call('POST', path`/v1/tickets/${id}/resolve`, { decision: decision ?? null, reason });
  }

  /** Not needed any more, whoever holds it. @throws NotOpenError */
  async invalidate(id: string, { reason }: { reason: string }): Promise<Ticket> {
    return this.#call('POST', path`/v1/tickets/${id}/invalidate`, { reason });
  }

  /**
   * Asks for a second look at a decision, which nobody who decided before is handed; an overturn is decided at once. The
   * same call again has the same look.
   * @throws DocketError `not_final`, `window_closed`, `already_open`
   */
  async look(id: string, how: NewLook): Promise<Ticket> {
    return this.#call('POST', path`/v1/tickets/${id}/looks`, how);
  }

  /** How well a queue's tickets were decided in a time, by each person and model. */
  async quality(queue: string, range: { from?: string; to?: string } = {}): Promise<Quality> {
    const query = new URLSearchParams(Object.entries(range));
    return this.#call('GET', `${path`/v1/queues/${queue}/quality`}?${query}`, undefined);
  }

  /** Decides all open tickets of a subject; with `dryRun` only counts them. */
  async resolveAll(
    filter: SubjectFilter,
    { decision, ...how }: { decision: unknown; reason: string; dryRun?: boolean },
  ): Promise<{ resolved: number; skipped: number }> {
    return this.#call('POST', '/v1/tickets/resolve', { filter, decision: decision ?? null, ...how });
  }

  /** The same: none of them is needed any more. */
  async invalidateAll(
    filter: SubjectFilter,
    how: { reason: string; dryRun?: boolean },
  ): Promise<{ invalidated: number; skipped: number }> {
    return this.#call('POST', '/v1/tickets/invalidate', { filter, ...how });
  }

  /** Changes an open ticket; the very next claim sees it. @throws NotOpenError */
  async change(id: string, change: TicketChange): Promise<Ticket> {
    return this.#call('PATCH', path`/v1/tickets/${id}`, change);
  }

  /** Higher goes first. @throws NotOpenError */
  async reprioritize(id: string, priority: number): Promise<Ticket> {
    return this.change(id, { priority });
  }

  /**
   * Moves an open ticket to another queue: its holder with the ticket as it came, an operator by its id.
   * @throws LeaseLostError, NotOpenError
   */
  async transfer(ticket: Held | string, { queue, reason }: { queue: string; reason?: string }): Promise<Ticket> {
    const [id, token] = typeof ticket === 'string' ? [ticket, undefined] : [ticket.id, tokenOf(ticket)];
    return this.#call('POST', path`/v1/tickets/${id}/transfer`, { queue, token, reason });
  }

  /**
   * What the reviewer holds, then new tickets; of several queues in order of preference. `ReviewerLoop` does this for one
   * queue, and all that follows.
   */
  async claim(
    queue: string | string[],
    { reviewer, skills = [], count = 1, ...options }: ClaimOptions,
  ): Promise<Claim> {
    const { waitSeconds = 0 } = options;
    const sent = { reviewer, skills, count, waitSeconds };
    return Array.isArray(queue)
      ? this.#call('POST', '/v1/claim', { ...sent, queues: queue }, options)
      : this.#call('POST', path`/v1/queues/${queue}/claim`, sent, options);
  }

  /** A full lease again; its end. @throws LeaseLostError, NotOpenError */
  async renew(ticket: Held, options?: CallOptions): Promise<string> {
    const sent = { token: tokenOf(ticket) };
    const answer = await this.#call<{ expiresAt: string }>('POST', path`/v1/tickets/${ticket.id}/renew`, sent, options);
    return answer.expiresAt;
  }

  /**
   * Decides a ticket that is held; the same again is no error.
   * @param next whether the reviewer's next ticket comes with the answer; `skills` are for that one, and `queues` where to
   *     look for it, by default in the ticket's
   * @param version of the ticket as it was seen
   * @throws LeaseLostError, NotOpenError; HttpError where the decision doesn't fit the queue's form, and with code `changed`
   *     where the ticket's body or requirements have changed after that version
   */
  async decide(
    ticket: Held,
    decision: unknown,
    how: { next?: boolean; skills?: string[]; queues?: string[]; version?: number } = {},
  ): Promise<Decided> {
    const sent = { token: tokenOf(ticket), decision: decision ?? null, ...how };
    return this.#call('POST', path`/v1/tickets/${ticket.id}/decide`, sent);
  }

  /** Gives it back; with `skip` it is never offered to this reviewer again. @throws LeaseLostError, NotOpenError */
  async release(ticket: Held, how: { delaySeconds?: number; reason?: string; skip?: boolean } = {}): Promise<Ticket> {
    return this.#call('POST', path`/v1/tickets/${ticket.id}/release`, { token: tokenOf(ticket), ...how });
  }

  /** Keeps what the holder has filled in of a decision; it comes again with the lease. @throws LeaseLostError, NotOpenError */
  async putDraft(ticket: Held, draft: unknown): Promise<void> {
    await this.#call('PUT', path`/v1/tickets/${ticket.id}/draft`, { token: tokenOf(ticket), draft: draft ?? null });
  }

  /** A reviewer's own draft, until a day after their lease. @param reviewer left out: whose key it is */
  async getDraft(id: string, { reviewer }: { reviewer?: string } = {}): Promise<Draft | null> {
    const query = reviewer === undefined ? '' : `?${new URLSearchParams({ reviewer })}`;
    const answer = await this.#call<Partial<Draft>>('GET', path`/v1/tickets/${id}/draft` + query, undefined);
    return answer.at === undefined ? null : (answer as Draft);
  }

  /** A model's work list: tickets that have no suggestion of it, in the order of the queue. */
  async unsuggested(queue: string, { model, limit, ...options }: UnsuggestedOptions = {}): Promise<Ticket[]> {
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries({ model, limit, waitSeconds: options.waitSeconds }))
      if (value !== undefined) asked.set(name, String(value));
    const where = `${path`/v1/queues/${queue}/unsuggested`}?${asked}`;
    return (await this.#call<{ items: Ticket[] }>('GET', where, undefined, options)).items;
  }

  /**
   * What a model would decide, once for each ticket; the same again is no error.
   * @throws NotOpenError; HttpError where it doesn't fit the queue's form, and with code `id_conflict` where the model has
   *     suggested something else
   */
  async suggest(id: string, suggestion: NewSuggestion): Promise<Suggestion> {
    return this.#call('POST', path`/v1/tickets/${id}/suggestions`, suggestion);
  }

  async #call<Answer>(...[method, where, body, options]: Parameters<Transport['call']>): Promise<Answer> {
    try {
      return (await this.#transport.call(method, where, body, options)) as Answer;
    } catch (error) {
      throw holdError(where, error);
    }
  }
}

/** @throws TypeError for what isn't held: without a token an operator would act */
export function tokenOf({ id, lease }: Held): string {
  if (!lease?.token) throw new TypeError(`${id} is not held here: it has no token`);
  return lease.token;
}
