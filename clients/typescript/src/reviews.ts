import { listed } from './lists.ts';
import type { components } from './openapi.ts';
import { path, type Transport } from './transport.ts';

type Schemas = components['schemas'];

export type Review = Schemas['Review'];
export type ReviewLogLine = Schemas['ReviewLogLine'];
/** The author's version. `status` counts for targets that are new; those that are left out are removed. */
export type NewReview = Schemas['PutReview'];
/** What an audit said about one target. */
export type AuditCallback = Schemas['AuditCallback'];
/** One of several in a call. */
export type AuditEntry = Schemas['AuditCallbackEntry'];
export type PictureCallback = Omit<AuditCallback, 'kind' | 'targetId'>;
export type CallbackAnswer = Schemas['CallbackAnswer'];

/** Reviews, and what audits say about their text, pictures and replies. */
export class Reviews {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a review, or edits it in its place among the callbacks. */
  async put(id: string, review: NewReview): Promise<Review> {
    return (await this.#transport.call('PUT', path`/v1/reviews/${id}`, review)) as unknown as Review;
  }

  /** Reports an audit; `outcome` is `pending` where it wasn't known in time. */
  async callback(id: string, callback: AuditCallback): Promise<CallbackAnswer> {
    return this.#report(path`/v1/reviews/${id}/callbacks`, callback);
  }

  /** The same where only the picture is known. */
  async pictureCallback(pictureId: string, callback: PictureCallback): Promise<CallbackAnswer> {
    return this.#report(path`/v1/pictures/${pictureId}/callbacks`, callback);
  }

  async get(id: string): Promise<Review> {
    return (await this.#transport.call('GET', path`/v1/reviews/${id}`, undefined)) as unknown as Review;
  }

  /** What became of every callback and edit, oldest first. */
  log(id: string): AsyncGenerator<ReviewLogLine, void, undefined> {
    return listed(this.#transport, path`/v1/reviews/${id}/log`);
  }

  /** Reports several audits of a review, all of them or none; their outcomes in the same order. */
  async callbacks(
    id: string,
    callbacks: AuditEntry[],
    { waitSeconds = 0 }: { waitSeconds?: number } = {},
  ): Promise<CallbackAnswer[]> {
    const sent = { callbacks: callbacks.map(named), waitSeconds };
    const { results } = await this.#transport.call('POST', path`/v1/reviews/${id}/callbacks`, sent, { waitSeconds });
    return (results as CallbackAnswer[]).map((answer, n) => outcomeOf(answer, callbacks[n]?.callbackId));
  }

  async #report(where: string, callback: Omit<AuditCallback, 'kind'>): Promise<CallbackAnswer> {
    const { callbackId, waitSeconds = 0 } = callback;
    const answer = await this.#transport.call('POST', where, named(callback), { waitSeconds });
    return outcomeOf(answer as CallbackAnswer, callbackId);
  }
}

const named = <C extends { callbackId?: string }>(callback: C): C => ({
  ...callback,
  callbackId: callback.callbackId ?? crypto.randomUUID(),
});

/** No one else has an id made here: of a duplicate the first try got through, and its answer was lost. */
const outcomeOf = (answer: CallbackAnswer, sentId: string | undefined): CallbackAnswer =>
  sentId === undefined && answer.first ? { callbackId: answer.callbackId, outcome: answer.first.outcome } : answer;
