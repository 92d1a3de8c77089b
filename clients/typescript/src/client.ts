import { batches } from './batches.ts';
import { Cases } from './cases.ts';
import { LeaseLostError, RefusedError } from './errors.ts';
import type { Events } from './events.ts';
import { type FeedEvent, type FeedOptions, feedEvents } from './feed.ts';
import type { components } from './openapi.ts';
import { Reviews } from './reviews.ts';
import { type StreamEvent, type StreamOf, type StreamOptions, streamEvents } from './streams.ts';
import type { Dispatch, NewTask, NewTemplate, NextDispatch, Task, TemplateChange } from './tasks.ts';
import { Tickets } from './tickets.ts';
import { type CallOptions, path, Transport, type TransportOptions } from './transport.ts';

type Schemas = components['schemas'];
type Command = Schemas['JobCommand'];
type Answer = Schemas['JobAnswer'];

export type ClientOptions = TransportOptions;
/** Anything that JSON can say. */
export type Json = Schemas['JobAdd']['body'];
/** `id` is yours and unique: it is what makes a repeat harmless. */
export type NewJob = Omit<Schemas['JobAdd'], 'command'>;

const keyed = (job: NewJob): NewJob => ({ key: crypto.randomUUID(), ...job });
/** A job in whatever state it is. */
export type JobView = Schemas['Job'];

/** A job as it is handed out. */
export interface Job<Value = unknown> {
  id: string;
  value: Value;
  topic: string;
  /** Which hand-out of this job it is, from 1. */
  attempt: number;
  token: string;
}

export interface AddResult {
  id: string;
  success: boolean;
  error: string | null;
}

export interface PeekedJob {
  id: string;
  value: unknown;
  topic: string;
  state: JobView['state'];
}

export interface NextOptions {
  /** Tasks, or `task/occurrence`s, that the user is not to get, beside those already had. */
  exclude?: string[];
  waitSeconds?: number;
  retrySeconds?: number;
  /** Breaks the call off. What it may have handed out is handed out again, with the same log id. */
  signal?: AbortSignal;
}

type Held = Pick<Job, 'id' | 'token'>;

/**
 * Docket over HTTP: `tickets`, `cases`, `reviews`, and jobs and tasks as calls of its own. Every call goes to the next
 * server when one fails, and may safely be sent twice.
 */
export class Client {
  readonly tickets: Tickets;
  readonly cases: Cases;
  readonly reviews: Reviews;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.tickets = new Tickets(this.#transport);
    this.cases = new Cases(this.#transport);
    this.reviews = new Reviews(this.#transport);
  }

  /** The servers in the order in which they are tried, those found by `discover` included. */
  get servers(): string[] {
    return this.#transport.servers;
  }

  /**
   * Adds a job; where the one of this id is over, its next run. `key` names the call, so that a repeat of it is one run;
   * it is made up where it is left out.
   * @throws RefusedError when the id stands for another job, or a value is wrong
   */
  async add(job: NewJob): Promise<{ id: string; already: boolean; run: number }> {
    const answer = await this.#command({ command: 'add', ...keyed(job) });
    return { id: job.id, already: answer.already === true, run: Number(answer.run) };
  }

  /** Any number of jobs; each succeeds or fails by itself, in the order given. */
  async addMany(jobs: NewJob[]): Promise<AddResult[]> {
    const results: AddResult[] = [];
    for (const part of batches(jobs.map(keyed))) {
      const answer = await this.#call({ command: 'add', jobs: part });
      if (!Array.isArray(answer.results)) throw new RefusedError(answer);
      results.push(...(answer.results as AddResult[]));
    }
    return results;
  }

  /** Ends a job in any state. Deleting it again is no error. */
  async delete(id: string): Promise<void> {
    await this.#command({ command: 'delete', id });
  }

  /** Looks at a job, or at the next one of a topic, and changes nothing. */
  async peek(of: { id: string } | { topic: string }): Promise<PeekedJob | null> {
    const answer = await this.#call({ command: 'peek', ...of });
    if (!answer.success && answer.code !== 'not_found') throw new RefusedError(answer);
    if (!answer.success || answer.id === null) return null;
    const { id, value, topic, state } = answer as unknown as PeekedJob;
    return { id, value, topic, state };
  }

  /** A job in whatever state it is. */
  async get(id: string): Promise<JobView> {
    return (await this.#transport.call('GET', path`/v1/jobs/${id}`, undefined)) as JobView;
  }

  /** Reserves the next job. `Consumer` does this and all that follows. */
  async pop(
    topic: string | string[],
    options: { waitSeconds?: number; retrySeconds?: number } = {},
  ): Promise<Job | null> {
    const { waitSeconds = 0 } = options;
    const answer = await this.#command({ command: 'pop', topic, wait: waitSeconds }, { ...options, waitSeconds });
    const { id, value, topic: from, attempt, token } = answer as unknown as Job;
    return id === null ? null : { id, value, topic: from, attempt, token };
  }

  /** @throws LeaseLostError when the token isn't live; once more with the same token is no error */
  async finish({ id, token }: Held): Promise<void> {
    await this.#command({ command: 'finish', id, token });
  }

  /** A full TTR again. */
  async touch({ id, token }: Held, options: CallOptions = {}): Promise<void> {
    await this.#command({ command: 'touch', id, token }, options);
  }

  /** Gives it back; `reason` is shown as the job's `lastReason`. */
  async release(
    { id, token }: Held,
    { delay = 0, priority, reason }: { delay?: number; priority?: number; reason?: string } = {},
  ): Promise<void> {
    await this.#handBack(this.#command({ command: 'release', id, token, delay, priority, reason }));
  }

  /** Sets it aside until it is kicked. */
  async bury({ id, token }: Held, { reason }: { reason?: string } = {}): Promise<void> {
    await this.#handBack(this.#command({ command: 'bury', id, token, reason }));
  }

  /** Keeps what tasks' params must look like (S4.1). The same again is no error. */
  async addTemplate(template: NewTemplate): Promise<void> {
    await this.#transport.call('POST', '/v1/templates', template);
  }

  /** Changes a template; tasks keep the version that they were made with. */
  async changeTemplate(id: string, change: TemplateChange): Promise<void> {
    await this.#transport.call('PATCH', path`/v1/templates/${id}`, change);
  }

  /** Replaces a group's members; it counts from their next pull on (S4.3). */
  async putGroup(gid: string, members: string[]): Promise<void> {
    await this.#transport.call('PUT', path`/v1/groups/${gid}`, { members });
  }

  /**
   * Adds a task, or finds it with the same content.
   * @throws HttpError with code `template_mismatch`, `limit_reached`, `id_conflict` or `invalid_request`
   */
  async addTask(task: NewTask): Promise<Task> {
    return (await this.#transport.call('POST', '/v1/tasks', task)) as unknown as Task;
  }

  /**
   * A user's unfinished dispatch again, or the next one that is due for the user or a group (S4.5). `Puller` does this
   * and all that follows.
   */
  async next(uid: string, options: NextOptions = {}): Promise<NextDispatch> {
    const { exclude = [], waitSeconds = 0 } = options;
    const answer = await this.#transport.call('POST', path`/v1/clients/${uid}/next`, { exclude, waitSeconds }, options);
    const { task, logId, redo, nextAt, reasons } = answer as Schemas['NextTaskAnswer'];
    if (task === null || logId === null) return { dispatch: null, nextAt, reasons };
    const { id: taskId, ...given } = task;
    return { dispatch: { taskId, ...given, logId, redo } as Dispatch, nextAt, reasons };
  }

  /**
   * Completes a dispatch; once more with the same result is no error. The instant at which it was completed.
   * @throws StaleLogIdError when it isn't the user's last one (S4.7); HttpError with code `lease_lost` when it was
   *     completed with another result; TypeError for a result that JSON can't say
   */
  async complete(uid: string, logId: string, result: unknown = null): Promise<string> {
    const sent = { logId, result };
    return (await this.#transport.call('POST', path`/v1/clients/${uid}/complete`, sent)).completedAt as string;
  }

  /**
   * Gives a user's last dispatch back, for others to take; once more is no error. The instant at which it was given back.
   * @param logId left out by an operator: whatever the user has
   * @throws StaleLogIdError when it is completed, or isn't the user's last one
   */
  async releaseTask(uid: string, how: { logId?: string; reason?: string } = {}): Promise<string> {
    return (await this.#transport.call('POST', path`/v1/clients/${uid}/release`, how)).releasedAt as string;
  }

  /**
   * What a person, or those who watch a queue, have to know at once. Reconnects by itself and misses nothing; ends by
   * `close()`, by leaving the loop, or by an HttpError.
   */
  stream(of: StreamOf, options: StreamOptions = {}): Events<StreamEvent> {
    return streamEvents(this.#transport, of, options);
  }

  /** All events of all kinds behind a position, in their order; with `follow` those to come, too. Reconnects by itself. */
  feed(options: FeedOptions = {}): Events<FeedEvent> {
    return feedEvents(this.#transport, options);
  }

  /** A repeat is refused because the first try has already ended the token's lease: that is what was wanted. */
  async #handBack(sent: Promise<unknown>): Promise<void> {
    await sent.catch((error) => {
      if (!(error instanceof LeaseLostError && error.reason === 'released')) throw error;
    });
  }

  async #command(command: Command, options?: CallOptions): Promise<Answer> {
    const answer = await this.#call(command, options);
    if (answer.success) return answer;
    const lost = answer.code === 'lease_lost' || answer.code === 'not_open';
    throw new (lost ? LeaseLostError : RefusedError)(answer);
  }

  async #call(command: Command, options?: CallOptions): Promise<Answer> {
    return (await this.#transport.call('POST', '/v1/jobs', command, options)) as Answer;
  }
}
