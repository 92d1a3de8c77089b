import { createHash } from 'node:crypto';
import { reasonOf } from '../../runtime/failures.ts';
import * as target from './target.ts';

const REQUEST_MS = 60_000;
/** Statuses of a server that is too busy or unavailable, of a whole request or of one event in it. */
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

interface BulkItem {
  index: { _id: string; status: number; error?: { type: string; reason: string } };
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each field of another server's answer is checked where it is read
  body: any;
}

/** @param expected statuses that are neither a success nor an error */
type Send = (method: string, path: string, sent?: object | string, expected?: number[]) => Promise<Answer>;

/**
 * Indexes events under their ids, and after them their position in an index of its own. Makes both indices where
 * they are missing.
 * @param url may hold a user and a password
 * @throws Transient when the server cannot be reached; Error when it refuses
 */
export async function openElasticsearch(
  url: string,
  index: string,
  signal: AbortSignal,
  retries: target.Retries,
): Promise<target.Target> {
  const send = sender(url, signal);
  const position = `${index}-position/_doc/position`;
  await ensureIndex(send, index, EVENTS);
  await ensureIndex(send, `${index}-position`, POSITION);
  return {
    name: index,
    async position(): Promise<target.Position | null> {
      const { status, body } = await send('GET', position, undefined, [404]);
      return status === 404 ? null : { seq: body._source.seq, id: body._source.id };
    },
    async write(events: target.ReceivedEvent[]) {
      for (let rest = events; rest.length > 0; ) {
        const { busy, why } = await indexEvents(send, index, rest);
        if (busy.length > 0) await retries.wait(`${index} put off ${busy.length} events: ${why}`);
        rest = busy;
      }
      // only now: a position ahead of its events would skip them for ever
      await send('PUT', position, target.positionOf(events));
    },
    async erase(items: target.Erased[]) {
      // a query sees what has been refreshed only
      await send('POST', `${index}/_refresh`);
      for (const kind of new Set(items.map((item) => item.kind))) {
        const ids = items.filter((item) => item.kind === kind).map(({ itemId }) => itemId);
        const query = {
          bool: {
            filter: [{ term: { kind } }, { terms: { itemId: ids } }],
            must_not: [{ term: { type: 'erased' } }],
          },
        };
        await send('POST', `${index}/_update_by_query`, { query, script: { source: 'ctx._source.data = null' } });
      }
    },
    close: async () => {},
  };
}

async function ensureIndex(send: Send, name: string, settings: object): Promise<void> {
  if ((await send('HEAD', name, undefined, [404])).status === 200) return;
  const { status, body } = await send('PUT', name, settings, [400]);
  // another program made it in between
  if (status === 400 && body?.error?.type !== 'resource_already_exists_exception') throw refused(name, status, body);
}

/** Elasticsearch takes no longer `_id`, in bytes. */
const MAX_ID_BYTES = 512;

/** The event's id, or a hash of one that is too long, as stable for upserts. The field `id` is whole. */
function documentId(id: string): string {
  return Buffer.byteLength(id) <= MAX_ID_BYTES ? id : `sha256/${createHash('sha256').update(id).digest('hex')}`;
}

interface Indexed {
  /** The events for which the server was too busy: they have to be sent again. */
  busy: target.ReceivedEvent[];
  why: string;
}

async function indexEvents(send: Send, index: string, events: target.ReceivedEvent[]): Promise<Indexed> {
  const lines = events.map(({ text, event }) => `{"index":{"_id":${JSON.stringify(documentId(event.id))}}}\n${text}\n`);
  const { status, body } = await send('POST', `${index}/_bulk`, lines.join(''), [413]);
  if (status === 413) {
    // the request is too large: in halves
    const half = Math.ceil(events.length / 2);
    if (events.length === 1) throw new Error(`${index}: ${events[0]?.event.id} is too large for the server`);
    const first = await indexEvents(send, index, events.slice(0, half));
    const second = await indexEvents(send, index, events.slice(half));
    return { busy: [...first.busy, ...second.busy], why: first.why || second.why };
  }
  const items = body?.items as BulkItem[] | undefined;
  if (items?.length !== events.length) throw new Error(`${index}: the server did not answer for all events`);
  const indexed: Indexed = { busy: [], why: '' };
  items.forEach(({ index: { _id, status, error } }, n) => {
    if (status >= 200 && status < 300) return;
    const said = `${status} ${error?.type}: ${error?.reason}`;
    if (!AGAIN.has(status)) throw new Error(`${index} refuses ${_id}: ${said}`);
    indexed.busy.push(events[n] as target.ReceivedEvent);
    indexed.why = said;
  });
  return indexed;
}

/** Makes requests to a server, with the user and password of its URL. */
function sender(text: string, closing: AbortSignal): Send {
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const base = url.href.replace(/\/+$/, '');
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const away = (error: Error): never => {
    if (closing.aborted) throw error;
    const reason = reasonOf(error.cause ?? error);
    throw new target.Transient(`--url: ${base} cannot be reached (${reason}); start it, or correct --url`);
  };
  return async (method, path, sent, expected = []) => {
    const headers = new Headers(username === '' ? {} : { authorization: `Basic ${pair}` });
    if (sent !== undefined)
      headers.set('content-type', typeof sent === 'string' ? 'application/x-ndjson' : 'application/json');
    const signal = AbortSignal.any([closing, AbortSignal.timeout(REQUEST_MS)]);
    const body = typeof sent === 'object' ? JSON.stringify(sent) : sent;
    const response = await fetch(`${base}/${path}`, { method, headers, body, signal }).catch(away);
    const answer = { status: response.status, body: target.asJson(await response.text().catch(away)) };
    if (response.ok || expected.includes(response.status)) return answer;
    throw refused(`${method} ${base}/${path}`, response.status, answer.body);
  };
}

function refused(what: string, status: number, body: Answer['body']): Error {
  const reason = body?.error?.reason ?? body?.error;
  const said = `${what} was answered ${status}${typeof reason === 'string' ? `: ${reason}` : ''}`;
  if (status === 401 || status === 403) return new Error(`--url: ${said}; correct the user or the password in --url`);
  return AGAIN.has(status) ? new target.Transient(said) : new Error(said);
}
