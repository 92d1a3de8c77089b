import { createHash } from 'node:crypto';
import { reasonOf } from '../../runtime/failures.ts';
import type { Retries } from './retries.ts';
import { asJson, type Position, positionOf, type ReceivedEvent, type Target, Transient } from './target.ts';

const REQUEST_MS = 60_000;
/** Too busy, or unavailable; the status of a whole request or of one event in it. */
const AGAIN = new Set([429, 502, 503, 504]);

/** Data is not indexed: parsed as fields, two decisions of different shape would conflict. */
const EVENTS = {
  mappings: {
    properties: {
      ...{ seq: { type: 'long' }, id: { type: 'keyword' }, kind: { type: 'keyword' }, itemId: { type: 'keyword' } },
      ...{ type: { type: 'keyword' }, actor: { type: 'keyword' }, at: { type: 'date' } },
      data: { type: 'object', enabled: false },
    },
  },
};
const POSITION = { mappings: { properties: { seq: { type: 'long' }, id: { type: 'keyword' } } } };

export interface ElasticsearchOptions {
  /** May hold a user and a password. */
  url: string;
  index: string;
  signal: AbortSignal;
  retries: Retries;
}

interface BulkItem {
  index: { _id: string; status: number; error?: { type: string; reason: string } };
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what another server sends is looked at field by field
  body: any;
}

/**
 * Indexes events under their ids, and after them their position in an index of its own. Makes both indices where
 * they are missing.
 * @throws Transient when the server cannot be reached; Error when it refuses
 */
export async function openElasticsearch(options: ElasticsearchOptions): Promise<Target> {
  const server = new Elasticsearch(options);
  const positionIndex = `${options.index}-position`;
  await server.ensureIndex(options.index, EVENTS);
  await server.ensureIndex(positionIndex, POSITION);
  return {
    name: options.index,
    async position(): Promise<Position | null> {
      const { status, body } = await server.send('GET', `${positionIndex}/_doc/position`, undefined, [404]);
      return status === 404 ? null : { seq: body._source.seq, id: body._source.id };
    },
    async write(events: ReceivedEvent[]) {
      for (let rest = events; rest.length > 0; ) {
        const { rejected, why } = await server.index(rest);
        if (rejected.length > 0)
          await options.retries.wait(`${options.index} put off ${rejected.length} events: ${why}`);
        rest = rejected;
      }
      // only now: a position ahead of its events would skip them for ever
      await server.send('PUT', `${positionIndex}/_doc/position`, positionOf(events));
    },
    close: async () => {},
  };
}

/** Elasticsearch takes no longer `_id`, in bytes. */
const MAX_ID_BYTES = 512;

/** The event's id, which a job's long id may make too long: then its hash, as stable for upserts. The field `id` is whole. */
function documentId(id: string): string {
  return Buffer.byteLength(id) <= MAX_ID_BYTES ? id : `sha256/${createHash('sha256').update(id).digest('hex')}`;
}

class Elasticsearch {
  readonly #o: ElasticsearchOptions;
  readonly #base: string;
  readonly #authorization: string | undefined;

  constructor(options: ElasticsearchOptions) {
    this.#o = options;
    const url = new URL(options.url);
    const { username, password } = url;
    if (username !== '') {
      const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      this.#authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    }
    url.username = '';
    url.password = '';
    this.#base = url.href.replace(/\/+$/, '');
  }

  async ensureIndex(name: string, settings: object): Promise<void> {
    if ((await this.send('HEAD', name, undefined, [404])).status === 200) return;
    const { status, body } = await this.send('PUT', name, settings, [400]);
    // another program made it in between
    if (status === 400 && body?.error?.type !== 'resource_already_exists_exception') throw refused(name, status, body);
  }

  /** @returns the events that have to be sent again, because the server was too busy for them */
  async index(events: ReceivedEvent[]): Promise<{ rejected: ReceivedEvent[]; why: string }> {
    const text = events
      .map(({ text, event }) => `{"index":{"_id":${JSON.stringify(documentId(event.id))}}}\n${text}\n`)
      .join('');
    const { status, body } = await this.send('POST', `${this.#o.index}/_bulk`, text, [413]);
    if (status === 413) return this.#inHalves(events);
    const items = body?.items as BulkItem[] | undefined;
    if (items?.length !== events.length)
      throw new Error(`${this.#o.index}: ${this.#base} didn't answer for all events`);
    const rejected: ReceivedEvent[] = [];
    let why = '';
    items.forEach(({ index: { _id, status, error } }, n) => {
      if (status >= 200 && status < 300) return;
      const said = `${status} ${error?.type}: ${error?.reason}`;
      if (!AGAIN.has(status)) throw new Error(`${this.#o.index} refuses ${_id}: ${said}`);
      rejected.push(events[n] as ReceivedEvent);
      why = said;
    });
    return { rejected, why };
  }

  async #inHalves(events: ReceivedEvent[]): Promise<{ rejected: ReceivedEvent[]; why: string }> {
    const half = Math.ceil(events.length / 2);
    if (events.length === 1) throw new Error(`${this.#o.index}: ${events[0]?.event.id} is too large for ${this.#base}`);
    const [first, second] = [await this.index(events.slice(0, half)), await this.index(events.slice(half))];
    return { rejected: [...first.rejected, ...second.rejected], why: first.why || second.why };
  }

  /** @param expected answers that are no success and still none of the errors below */
  async send(method: string, path: string, sent?: object | string, expected: number[] = []): Promise<Answer> {
    const headers = new Headers();
    if (this.#authorization) headers.set('authorization', this.#authorization);
    if (sent !== undefined)
      headers.set('content-type', typeof sent === 'string' ? 'application/x-ndjson' : 'application/json');
    const signal = AbortSignal.any([this.#o.signal, AbortSignal.timeout(REQUEST_MS)]);
    const body = typeof sent === 'object' ? JSON.stringify(sent) : sent;
    const response = await fetch(`${this.#base}/${path}`, { method, headers, body, signal }).catch(this.#away);
    const answer = { status: response.status, body: asJson(await response.text().catch(this.#away)) };
    if (response.ok || expected.includes(response.status)) return answer;
    throw refused(`${method} ${this.#base}/${path}`, response.status, answer.body);
  }

  readonly #away = (error: Error): never => {
    if (this.#o.signal.aborted) throw error;
    const reason = reasonOf(error.cause ?? error);
    throw new Transient(`--url: ${this.#base} cannot be reached (${reason}); start it, or correct --url`);
  };
}

function refused(what: string, status: number, body: Answer['body']): Error {
  const reason = body?.error?.reason ?? body?.error;
  const said = `${what} was answered ${status}${typeof reason === 'string' ? `: ${reason}` : ''}`;
  if (status === 401 || status === 403) return new Error(`--url: ${said}; correct the user or the password in --url`);
  return AGAIN.has(status) ? new Transient(said) : new Error(said);
}
