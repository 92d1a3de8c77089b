import { LeaseLostError, RefusedError } from './errors.ts';
import type { components } from './openapi.ts';
import { type CallOptions, Transport, type TransportOptions } from './transport.ts';

type Schemas = components['schemas'];
type Command = Schemas['JobCommand'];
type Answer = Schemas['JobAnswer'];

export type ClientOptions = TransportOptions;
/** Anything that JSON can say. */
export type Json = Schemas['JobAdd']['body'];
/** `id` is yours and unique: it is what makes a repeat harmless. */
export type NewJob = Omit<Schemas['JobAdd'], 'command'>;
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

type Held = Pick<Job, 'id' | 'token'>;

const MANY_JOBS = 1000;
/** Half of what the server takes. */
const MANY_BYTES = 4 * 1024 * 1024;

/** Jobs over HTTP. Every call goes to the next server when one fails, and may safely be sent twice. */
export class Client {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** The servers in the order in which they are tried, those found by `discover` included. */
  get servers(): string[] {
    return this.#transport.servers;
  }

  /** @throws RefusedError when the id stands for another job, or a value is wrong */
  async add(job: NewJob): Promise<{ id: string; already: boolean }> {
    const answer = await this.#command({ command: 'add', ...job });
    return { id: job.id, already: answer.already === true };
  }

  /** Any number of jobs; each succeeds or fails by itself, in the order given. */
  async addMany(jobs: NewJob[]): Promise<AddResult[]> {
    const results: AddResult[] = [];
    for (const part of parts(jobs)) {
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
    return (await this.#transport.call('GET', `/v1/jobs/${encodeURIComponent(id)}`, undefined)) as JobView;
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

  /** Gives it back. */
  async release(
    { id, token }: Held,
    { delay = 0, priority }: { delay?: number; priority?: number } = {},
  ): Promise<void> {
    const more = { delay, ...(priority !== undefined && { priority }) };
    await this.#handBack(this.#command({ command: 'release', id, token, ...more }));
  }

  /** Sets it aside until it is kicked. */
  async bury({ id, token }: Held): Promise<void> {
    await this.#handBack(this.#command({ command: 'bury', id, token }));
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

/** Cuts a list into what one call takes. */
function* parts(jobs: NewJob[]): Generator<NewJob[]> {
  let part: NewJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const size = Buffer.byteLength(JSON.stringify(job));
    if (part.length === MANY_JOBS || (part.length > 0 && bytes + size > MANY_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(job);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
