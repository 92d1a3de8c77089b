import type { Client } from './client.ts';
import { isLost, isPassing, Release, Skip } from './errors.ts';
import { type HoldContext, keeping, ONE_TRY, remembered } from './keeping.ts';
import { doubling, pause } from './pauses.ts';
import { poll } from './polling.ts';
import type { HandedTicket } from './tickets.ts';

export interface ReviewerOptions {
  queue: string;
  /** One loop for each reviewer: two would be handed each other's tickets. */
  reviewer: string;
  skills?: string[];
  /** How many handlers run at once; the queue's `maxHeld` must allow it. */
  concurrency?: number;
  /** How long a server waits for a ticket to come; a stop may take as long. */
  waitSeconds?: number;
  /** What it returns is the decision; what it throws gives the ticket back. */
  handler(ticket: HandedTicket, context: HoldContext): unknown;
  /** Seconds until a ticket whose handler failed is ready again, by the leases it has had. */
  backoff?(attempt: number): number;
  /** Called with what went wrong and is being dealt with; `ticket` where it was about one. */
  onError?(error: unknown, ticket?: HandedTicket): void;
}

const print = (error: unknown, ticket?: HandedTicket) =>
  console.error(`docket: ${ticket ? `ticket ${ticket.id}: ` : ''}${error}`);

/** How often it is looked for more work while some is being done: a claim doesn't wait then. */
const BESIDE_MS = 1_000;
/** Leases that are over, and may still be in an answer under way. */
const REMEMBERED = 1_000;

/** Claims tickets, runs handlers, keeps their leases alive, and decides, the next ticket coming with the answer. */
export class ReviewerLoop {
  readonly #client: Client;
  readonly #options: Required<ReviewerOptions>;
  readonly #stopping = new AbortController();
  readonly #leaseSeconds: () => Promise<number>;
  /** By the lease's token. */
  readonly #running = new Set<string>();
  readonly #slots = new Set<Promise<void>>();
  readonly #over = new Set<string>();
  /** Ends the rest that is taken while all slots are busy. */
  #resting = new AbortController();

  constructor(client: Client, options: ReviewerOptions) {
    this.#client = client;
    const { skills = [], concurrency = 1, waitSeconds = 5, backoff = doubling, onError = print } = options;
    this.#options = { ...options, skills, concurrency, waitSeconds, backoff, onError };
    this.#leaseSeconds = remembered(async () => (await client.tickets.getQueue(options.queue, ONE_TRY)).leaseSeconds);
  }

  /**
   * Works until `stop` is called and every running handler has ended.
   * @throws AuthError or HttpError when claiming is refused: going on would not help
   */
  async run(): Promise<void> {
    const { waitSeconds, onError } = this.#options;
    try {
      await poll({
        ask: () => this.#claim(),
        take: (tickets) => this.#begin(tickets),
        stopping: this.#stopping.signal,
        ...{ waitSeconds, onError },
      });
    } finally {
      this.stop();
      await Promise.all(this.#slots);
    }
  }

  /** Nothing new is begun; what was claimed and not begun is given back. */
  stop(): void {
    this.#stopping.abort();
    this.#resting.abort();
  }

  async #claim(): Promise<HandedTicket[] | null> {
    const { queue, reviewer, skills, concurrency: count } = this.#options;
    // what is held is handed out again, so a claim beside running handlers would not wait
    const alone = this.#slots.size === 0;
    if (!alone) await this.#rest();
    await this.#freeSlot();
    if (this.#stopping.signal.aborted) return null;
    const waitSeconds = this.#slots.size === 0 ? this.#options.waitSeconds : 0;
    const claim = { reviewer, skills, count, waitSeconds, retrySeconds: 0 };
    const { tickets } = await this.#client.tickets.claim(queue, claim);
    const fresh = tickets.filter((ticket) => !this.#isKnown(ticket));
    return fresh.length > 0 ? fresh : null;
  }

  async #begin(tickets: HandedTicket[]): Promise<void> {
    for (const ticket of tickets) {
      await this.#freeSlot();
      if (this.#isKnown(ticket)) continue;
      if (this.#stopping.signal.aborted) await this.#giveBack(ticket);
      else this.#occupy(ticket);
    }
  }

  #occupy(ticket: HandedTicket): void {
    const slot = this.#work(ticket).finally(() => {
      this.#slots.delete(slot);
      this.#resting.abort();
    });
    this.#slots.add(slot);
  }

  /** Until a slot is free, however long that takes, or it is stopped. */
  async #freeSlot(): Promise<void> {
    while (this.#slots.size >= this.#options.concurrency && !this.#stopping.signal.aborted) await this.#rest();
  }

  /** A second, or until a slot is free or it is stopped. */
  async #rest(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#resting = new AbortController();
    await pause(BESIDE_MS, this.#resting.signal);
  }

  async #work(first: HandedTicket): Promise<void> {
    for (let ticket: HandedTicket | null = first; ticket !== null && !this.#isKnown(ticket); ) {
      const token = tokenIn(ticket);
      this.#running.add(token);
      try {
        const next = await this.#handle(ticket);
        this.#forget(token);
        ticket = next;
      } catch (error) {
        this.#options.onError(error, ticket ?? undefined);
        // else it is still held, and comes again
        if (isLost(error)) this.#forget(token);
        ticket = null;
      }
      this.#running.delete(token);
    }
  }

  /** @returns the next ticket, if it came with the decision */
  async #handle(ticket: HandedTicket): Promise<HandedTicket | null> {
    const { handler, onError, skills } = this.#options;
    const { tickets } = this.#client;
    const stopping = this.#stopping.signal;
    try {
      const ended = await keeping({
        run: (signal) => handler(ticket, { signal }),
        send: (decision) => tickets.decide(ticket, decision, { next: !stopping.aborted, skills }),
        leaseSeconds: this.#leaseSeconds,
        atOnce: ticket.resumed,
        renew: (timeoutSeconds) => tickets.renew(ticket, { timeoutSeconds, retrySeconds: 0 }),
        stopping,
        onError: (error) => onError(error, ticket),
      });
      if ('lost' in ended) throw ended.lost;
      if ('failure' in ended) return this.#failed(ticket, ended.failure);
      return await this.#nextOf(ended.answer);
    } catch (error) {
      if (isLost(error) || isPassing(error)) throw error;
      // it doesn't fit the queue's form, for example, JSON can't say it, or the server fails at it
      return this.#failed(ticket, error);
    }
  }

  async #nextOf({ next }: { next: HandedTicket | null }): Promise<HandedTicket | null> {
    if (!next?.lease?.token) return null;
    if (!this.#stopping.signal.aborted) return next;
    await this.#giveBack(next);
    return null;
  }

  async #failed(ticket: HandedTicket, failure: unknown): Promise<null> {
    const { backoff, onError } = this.#options;
    const { tickets } = this.#client;
    if (failure instanceof Skip) await tickets.release(ticket, { skip: true });
    else {
      if (!(failure instanceof Release)) onError(failure, ticket);
      const delaySeconds = failure instanceof Release ? failure.delaySeconds : backoff(ticket.attempts);
      await tickets.release(ticket, { delaySeconds });
    }
    return null;
  }

  async #giveBack(ticket: HandedTicket): Promise<void> {
    try {
      await this.#client.tickets.release(ticket);
    } catch (error) {
      this.#options.onError(error, ticket);
    }
  }

  #isKnown(ticket: HandedTicket): boolean {
    const token = tokenIn(ticket);
    return this.#running.has(token) || this.#over.has(token);
  }

  #forget(token: string): void {
    this.#over.add(token);
    const [oldest] = this.#over;
    if (this.#over.size > REMEMBERED && oldest !== undefined) this.#over.delete(oldest);
  }
}

const tokenIn = ({ lease }: HandedTicket): string => lease?.token ?? '';
