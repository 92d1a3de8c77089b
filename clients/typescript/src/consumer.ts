import type { Client, Job } from './client.ts';
import { Bury, LeaseLostError, Release } from './errors.ts';
import { doubling, pause } from './pauses.ts';
import { poll } from './polling.ts';

export interface HandlerContext {
  /** Fires when the job is no longer this consumer's: what the handler still does will not count. */
  signal: AbortSignal;
}

export interface ConsumerOptions {
  topics: string | string[];
  /** Its end finishes the job; what it throws releases it, or buries it where that is a `Bury`. */
  handler(job: Job, context: HandlerContext): Promise<void> | void;
  /** How many handlers run at once. */
  concurrency?: number;
  /** How long a server waits for a job to come; a stop may take as long. */
  waitSeconds?: number;
  /** Seconds until a job whose handler failed is ready again. */
  backoff?(attempt: number): number;
  /** Called with what went wrong and is being dealt with; `job` where it was about one. */
  onError?(error: unknown, job?: Job): void;
}

const print = (error: unknown, job?: Job) => console.error(`docket: ${job ? `job ${job.id}: ` : ''}${error}`);

/** What a reason may be: 2,000 characters without NUL and halves of surrogate pairs, and not none. */
function reasonOf(failure: unknown): string | undefined {
  const text = String((failure as Partial<Error> | null | undefined)?.message || failure);
  return (
    text
      .replaceAll('\0', '')
      .slice(0, 2000)
      .replace(/\p{Surrogate}/gu, '') || undefined
  );
}

/** The smallest TTR there is: until a job's own is known, it could be this. */
const SHORTEST_TTR = 1;
/** Three tries fit into a TTR. */
const BEATS = 3;

/** Pops, runs handlers, keeps their jobs alive, and finishes or releases them. */
export class Consumer {
  readonly #client: Client;
  readonly #options: Required<ConsumerOptions>;
  readonly #stopping = new AbortController();

  constructor(client: Client, options: ConsumerOptions) {
    this.#client = client;
    const { concurrency = 1, waitSeconds = 5, backoff = doubling, onError = print } = options;
    this.#options = { ...options, concurrency, waitSeconds, backoff, onError };
  }

  /**
   * Works until `stop` is called and every running handler has ended.
   * @throws AuthError, HttpError or RefusedError when popping is refused: going on would not help
   */
  async run(): Promise<void> {
    const slots = Array.from({ length: this.#options.concurrency }, () =>
      this.#slot().catch((error: unknown) => {
        this.stop();
        throw error;
      }),
    );
    const failed = (await Promise.allSettled(slots)).find((slot) => slot.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Nothing new is begun. */
  stop(): void {
    this.#stopping.abort();
  }

  #slot(): Promise<void> {
    const { topics, waitSeconds, onError } = this.#options;
    return poll({
      ask: () => this.#client.pop(topics, { waitSeconds, retrySeconds: 0 }),
      take: (job) => this.#take(job),
      stopping: this.#stopping.signal,
      ...{ waitSeconds, onError },
    });
  }

  async #take(job: Job): Promise<void> {
    try {
      // came while it was being stopped: given back at once, so that it needn't wait for its TTR
      if (this.#stopping.signal.aborted) await this.#client.release(job);
      else await this.#work(job);
    } catch (error) {
      this.#options.onError(error, job);
    }
  }

  async #work(job: Job): Promise<void> {
    const { handler, backoff, onError } = this.#options;
    const lost = new AbortController();
    const ended = new AbortController();
    void this.#keep(job, lost, ended.signal);
    let failure: unknown;
    let failed = false;
    try {
      await handler(job, { signal: lost.signal });
    } catch (error) {
      failed = true;
      failure = error;
    }
    ended.abort();
    if (!failed) return this.#client.finish(job);
    onError(failure, job);
    const reason = reasonOf(failure);
    if (failure instanceof Bury) return this.#client.bury(job, { reason });
    const delay = failure instanceof Release ? failure.delaySeconds : backoff(job.attempt);
    return this.#client.release(job, { delay, reason });
  }

  /** Touches a job while its handler runs. A short handler costs no call: its job's TTR isn't even asked for. */
  async #keep(job: Job, lost: AbortController, ended: AbortSignal): Promise<void> {
    let ttr: number | undefined;
    let beat = SHORTEST_TTR / BEATS;
    for (let seconds = beat; ; ) {
      await pause(seconds * 1000, ended);
      if (ended.aborted) return;
      try {
        await this.#client.touch(job, { timeoutSeconds: Math.max(1, beat), retrySeconds: 0 });
        ttr ??= (await this.#client.get(job.id)).TTR;
        beat = ttr / BEATS;
        seconds = beat;
      } catch (error) {
        if (ended.aborted) return;
        if (error instanceof LeaseLostError) return lost.abort(error);
        this.#options.onError(error, job);
        // a try that hung has taken the time until the next one; of a TTR that is not known the beat is short already
        seconds = ttr === undefined ? beat : Math.min(1, beat / BEATS);
      }
    }
  }
}
