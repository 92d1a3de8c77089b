import type { Client } from './client.ts';
import { HttpError, isPassing, StaleLogIdError, StuckError } from './errors.ts';
import { doubling, jittered, pause, pauseMs } from './pauses.ts';
import { poll } from './polling.ts';
import type { Dispatch } from './tasks.ts';

export interface PullerOptions {
  /** The user whose tasks are pulled, their own and those of their groups. One loop for each user: a user has one dispatch at a time. */
  uid: string;
  /** What it returns completes the dispatch, as its result. When it throws, the same dispatch comes again. */
  handler(dispatch: Dispatch): unknown;
  /** Tasks, or `task/occurrence`s, that are not to come. */
  exclude?: string[];
  /** How long a server waits for a task to be due; a stop doesn't wait for it. */
  waitSeconds?: number;
  /** Seconds until a dispatch is asked for again that has failed so many times in a row. */
  backoff?(failures: number): number;
  /** From this number of failures in a row on, `onError` is called with a `StuckError`. */
  stuckAfter?: number;
  /** Called with what went wrong and is being dealt with; `dispatch` where it was about one. */
  onError?(error: unknown, dispatch?: Dispatch): void;
}

/** Clients that failed together don't come back together. */
const unevenly = (failures: number) => jittered(doubling(failures));
const print = (error: unknown, dispatch?: Dispatch) =>
  console.error(`docket: ${dispatch ? `task ${dispatch.taskId}: ` : ''}${error}`);

/** Whatever is sent after this, the dispatch is over. */
const isOver = (error: unknown) =>
  error instanceof StaleLogIdError || (error instanceof HttpError && error.code === 'lease_lost');

/** Asks for a user's next task, runs the handler, completes it with what the handler returned (S4.5, S4.7). */
export class Puller {
  readonly #client: Client;
  readonly #options: Required<PullerOptions>;
  readonly #stopping = new AbortController();
  #logId = '';
  /** In a row, of the dispatch with that log id. */
  #failures = 0;

  constructor(client: Client, options: PullerOptions) {
    this.#client = client;
    const { exclude = [], waitSeconds = 10, backoff = unevenly, stuckAfter = 5, onError = print } = options;
    this.#options = { ...options, exclude, waitSeconds, backoff, stuckAfter, onError };
  }

  /**
   * Works until `stop` is called and a running handler's result has been taken.
   * @throws AuthError or HttpError when asking is refused: going on would not help
   */
  run(): Promise<void> {
    const { uid, exclude, waitSeconds, onError } = this.#options;
    const { signal } = this.#stopping;
    return poll({
      ask: async () => (await this.#client.next(uid, { exclude, waitSeconds, retrySeconds: 0, signal })).dispatch,
      take: (dispatch) => this.#take(dispatch),
      stopping: signal,
      ...{ waitSeconds, onError },
    });
  }

  /** Nothing new is begun; a long poll or a pause under way ends at once. */
  stop(): void {
    this.#stopping.abort();
  }

  async #take(dispatch: Dispatch): Promise<void> {
    // came while it was being stopped: it stays with the user, who gets it again
    if (this.#stopping.signal.aborted) return;
    const { handler, backoff, stuckAfter, onError } = this.#options;
    if (dispatch.logId !== this.#logId) this.#failures = 0;
    this.#logId = dispatch.logId;
    try {
      const result = await handler(dispatch);
      await this.#complete(dispatch, result ?? null);
    } catch (error) {
      const failures = ++this.#failures;
      onError(failures < stuckAfter ? error : new StuckError(failures, error), dispatch);
      await pause(backoff(failures) * 1000, this.#stopping.signal);
    }
  }

  /** Sends it until a server has taken it, has said no or fails at it, for its answer may be lost when all the rest is done. */
  async #complete(dispatch: Dispatch, result: unknown): Promise<void> {
    const { uid, onError } = this.#options;
    for (let failures = 0; ; failures++) {
      try {
        await this.#client.complete(uid, dispatch.logId, result);
        return;
      } catch (error) {
        if (isOver(error)) return onError(error, dispatch);
        if (!isPassing(error) || this.#stopping.signal.aborted) throw error;
        onError(error, dispatch);
      }
      await pause(pauseMs(failures), this.#stopping.signal);
    }
  }
}
