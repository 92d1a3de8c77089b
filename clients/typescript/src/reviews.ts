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

  async #report(where: string, { callbackId, ...callback }: Omit<AuditCallback, 'kind'>): Promise<CallbackAnswer> {
    const { waitSeconds = 0 } = callback;
    const sent = { ...callback, callbackId: callbackId ?? crypto.randomUUID() };
    const answer = (await this.#transport.call('POST', where, sent, { waitSeconds })) as CallbackAnswer;
    const { first } = answer;
    // no one else has an id made here: the first try got through, and its answer was lost
    return callbackId === undefined && first ? { callbackId: answer.callbackId, outcome: first.outcome } : answer;
  }
}
