import type { Case, HeldCase } from './cases.ts';
import type { Client } from './client.ts';
import { Decline, isLost, isPassing, Skip, UnavailableError } from './errors.ts';
import { type HoldContext, keeping, ONE_TRY, remembered } from './keeping.ts';
import { doubling, pause, pauseMs } from './pauses.ts';
import type { Held } from './tickets.ts';

export interface JudgingContext extends HoldContext {
  /** The case is of an invitation, which may be declined. */
  invited: boolean;
}

/** An option of the court, or one with words. */
export type Opinion = string | { option: string; comment?: string };

export interface JurorOptions {
  court: string;
  juror: string;
  /** What it returns is the vote; what it throws gives the case back. */
  handler(item: Case, context: JudgingContext): Promise<Opinion> | Opinion;
  /** How long until it asks again when there was nothing to judge. */
  pauseSeconds?: number;
  /** Seconds until it goes on after the handler has failed so many times in a row. */
  backoff?(failures: number): number;
  /** Called with what went wrong and is being dealt with; `item` where it was about one. */
  onError?(error: unknown, item?: Case): void;
}

interface Taken {
  item: Case;
  held: Held;
  invited: boolean;
  /** Its lease began earlier. */
  resumed: boolean;
}

const print = (error: unknown, item?: Case) => console.error(`docket: ${item ? `case ${item.id}: ` : ''}${error}`);

/** Takes a juror's invitations and claims cases, runs the handler, keeps the lease alive, and votes. */
export class JurorLoop {
  readonly #client: Client;
  readonly #options: Required<JurorOptions>;
  readonly #stopping = new AbortController();
  readonly #lease: () => Promise<{ claimed: number; invited: number }>;
  /** Of the handler, in a row. */
  #failures = 0;

  constructor(client: Client, options: JurorOptions) {
    this.#client = client;
    const { pauseSeconds = 5, backoff = doubling, onError = print } = options;
    this.#options = { ...options, pauseSeconds, backoff, onError };
    this.#lease = remembered(async () => {
      const { leaseSeconds: claimed, assign } = await client.cases.getCourt(options.court, ONE_TRY);
      return { claimed, invited: assign?.answerSeconds ?? claimed };
    });
  }

  /**
   * Works until `stop` is called and a running handler's vote has been sent.
   * @throws AuthError or HttpError when claiming is refused: going on would not help
   */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    const { pauseSeconds, onError } = this.#options;
    for (let unanswered = 0; !signal.aborted; ) {
      try {
        const taken = await this.#next();
        unanswered = 0;
        if (taken) await this.#take(taken);
        else await pause(pauseSeconds * 1000, signal);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        onError(error);
        await pause(pauseMs(unanswered++), signal);
      }
    }
  }

  /** Nothing new is begun; a pause under way ends at once. */
  stop(): void {
    this.#stopping.abort();
  }

  async #next(): Promise<Taken | null> {
    const { cases } = this.#client;
    const { court, juror } = this.#options;
    const once = { retrySeconds: 0 };
    for await (const invitation of cases.invitations(juror, once)) {
      if (invitation.court !== court) continue;
      const item = await cases.get(invitation.id, once).catch((error) => {
        // it ended a moment ago
        if (isLost(error)) return null;
        throw error;
      });
      if (item) return { item, held: invitation, invited: true, resumed: true };
    }
    const { case: item } = await cases.claim(court, juror, once);
    return item && { item, held: item, invited: item.resumed && (await this.#isInvited(item)), resumed: item.resumed };
  }

  /** A claim hands out an invitation, too, that has come since they were looked for. */
  async #isInvited({ lease }: HeldCase): Promise<boolean> {
    const { cases } = this.#client;
    for await (const invitation of cases.invitations(this.#options.juror, { retrySeconds: 0 }))
      if (invitation.lease.token === lease.token) return true;
    return false;
  }

  /** What goes wrong with one case ends neither the loop nor the others. */
  async #take(taken: Taken): Promise<void> {
    const { onError, backoff } = this.#options;
    try {
      // came while it was being stopped; an invitation stays open
      if (this.#stopping.signal.aborted) await (taken.invited || this.#client.cases.release(taken.held));
      else await this.#judge(taken);
      this.#failures = 0;
    } catch (error) {
      onError(error, taken.item);
      if (isLost(error)) return;
      await pause(backoff(++this.#failures) * 1000, this.#stopping.signal);
    }
  }

  async #judge(taken: Taken): Promise<void> {
    const { item, held, invited, resumed } = taken;
    const { handler, onError } = this.#options;
    const { cases } = this.#client;
    const judged = keeping({
      run: (signal) => handler(item, { signal, invited }),
      send: (opinion) => this.#vote(held, opinion),
      leaseSeconds: async () => (await this.#lease())[invited ? 'invited' : 'claimed'],
      atOnce: resumed,
      renew: (timeoutSeconds) => cases.renew(held, { timeoutSeconds, retrySeconds: 0 }),
      stopping: this.#stopping.signal,
      onError: (error) => onError(error, item),
    });
    const ended = await judged.catch(async (error) => {
      if (!isLost(error) && !isPassing(error)) await cases.release(held);
      throw error;
    });
    if ('lost' in ended) throw ended.lost;
    if ('failure' in ended) return this.#failed(taken, ended.failure);
  }

  async #vote(held: Held, opinion: Opinion): Promise<void> {
    const { option, comment } = typeof opinion === 'string' ? { option: opinion, comment: undefined } : opinion;
    await this.#client.cases.vote(held, option, { ...(comment !== undefined && { comment }) });
  }

  async #failed({ held, invited }: Taken, failure: unknown): Promise<void> {
    const { cases } = this.#client;
    if (failure instanceof Decline && invited) await cases.decline(held);
    else if (failure instanceof Decline || failure instanceof Skip) await cases.release(held, { skip: true });
    else {
      await cases.release(held);
      throw failure;
    }
  }
}
