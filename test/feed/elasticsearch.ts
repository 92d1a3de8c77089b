import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../support/client.ts';
import { listening } from '../support/listening.ts';

// The part of Elasticsearch that an export speaks to: indices, _bulk, _doc, _update_by_query. Answers have the shapes of
// its reference (index, bulk, get and update by query API of version 8), refusals those that clients report of real clusters.

/** What is wrong with a bulk: too busy for all of it, or for each third event; one event is refused for good. */
type Trouble = 'busy' | 'partly' | 'refuses' | null;

interface Document {
  version: number;
  source: Json;
}

export interface ElasticsearchServer {
  url: string;
  indices: Map<string, { settings: Json; documents: Map<string, Document> }>;
  /** Events by id, as they are now. */
  sources(index: string): Map<string, Json>;
  authorizations: Set<string | undefined>;
  /** Asked for each bulk with its number from 1; it is answered after `ms`. */
  trouble: (bulk: number) => { what?: Trouble; ms?: number };
}

const problem = (status: number, type: string, reason: string) => ({
  status,
  body: { error: { root_cause: [{ type, reason }], type, reason }, status },
});
const REJECTED = {
  type: 'es_rejected_execution_exception',
  reason:
    'rejected execution of coordinating operation [coordinating_and_primary_bytes=104759862, replica_bytes=0, ' +
    'all_bytes=104759862, coordinating_operation_bytes=20862272, max_coordinating_and_primary_bytes=107374182]',
};
const REFUSED = {
  type: 'document_parsing_exception',
  reason: "[1:58] failed to parse field [at] of type [date] in document with id '1'",
};

export async function startElasticsearch(): Promise<ElasticsearchServer> {
  let bulks = 0;
  const state: ElasticsearchServer = {
    url: '',
    indices: new Map(),
    sources: (index) => new Map([...(state.indices.get(index)?.documents ?? [])].map(([id, d]) => [id, d.source])),
    authorizations: new Set(),
    trouble: () => ({}),
  };
  const answer = async (request: IncomingMessage, text: string): Promise<{ status: number; body?: Json }> => {
    const [index = '', api, id = ''] = (request.url ?? '').slice(1).split('/').map(decodeURIComponent);
    state.authorizations.add(request.headers.authorization);
    if (api === '_bulk') {
      bulks++;
      const { what = null, ms = 0 } = state.trouble(bulks);
      const reply = bulk(state, index, text, what);
      await sleep(ms);
      return reply;
    }
    if (api === '_refresh') return { status: 200, body: { _shards: { total: 2, successful: 1, failed: 0 } } };
    if (api === '_update_by_query') return update(state, index, JSON.parse(text));
    if (api === '_doc') return document(state, request.method, index, id, text);
    return indexCall(state, request.method, index, text);
  };
  const server = createServer((request, response) => void serve(request, response, answer));
  state.url = await listening(server);
  return state;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, text: string) => Promise<{ status: number; body?: Json }>,
): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return; // an export that is killed leaves its call in the middle
  }
  const { status, body } = await answer(request, Buffer.concat(chunks).toString());
  response.writeHead(status, { 'content-type': 'application/vnd.elasticsearch+json;compatible-with=8' });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
}

function indexCall(state: ElasticsearchServer, method: string | undefined, index: string, text: string) {
  const there = state.indices.has(index);
  if (method === 'HEAD') return { status: there ? 200 : 404 };
  if (there) return problem(400, 'resource_already_exists_exception', `index [${index}/x1] already exists`);
  state.indices.set(index, { settings: JSON.parse(text), documents: new Map() });
  return { status: 200, body: { acknowledged: true, shards_acknowledged: true, index } };
}

function store(state: ElasticsearchServer, index: string, id: string, source: Json) {
  const documents = state.indices.get(index)?.documents;
  const version = (documents?.get(id)?.version ?? 0) + 1;
  documents?.set(id, { version, source });
  return {
    ...{ _index: index, _id: id, _version: version, result: version === 1 ? 'created' : 'updated' },
    ...{ _shards: { total: 2, successful: 1, failed: 0 }, _seq_no: version, _primary_term: 1 },
    status: version === 1 ? 201 : 200,
  };
}

function document(state: ElasticsearchServer, method: string | undefined, index: string, id: string, text: string) {
  const found = state.indices.get(index);
  if (!found) return problem(404, 'index_not_found_exception', `no such index [${index}]`);
  if (method === 'PUT') {
    const { status, ...body } = store(state, index, id, JSON.parse(text));
    return { status, body };
  }
  const there = found.documents.get(id);
  if (!there) return { status: 404, body: { _index: index, _id: id, found: false } };
  const body = { _index: index, _id: id, _version: there.version, _seq_no: 1, _primary_term: 1, found: true };
  return { status: 200, body: { ...body, _source: there.source } };
}

/** Of the one query and the one script that an export sends. */
function update(state: ElasticsearchServer, index: string, { query, script }: Json) {
  const [{ term }, { terms }] = query.bool.filter;
  const isMeant = ({ kind, itemId, type }: Json) =>
    kind === term.kind && terms.itemId.includes(itemId) && type !== query.bool.must_not[0].term.type;
  const meant = [...(state.indices.get(index)?.documents.values() ?? [])].filter(({ source }) => isMeant(source));
  if (script.source !== 'ctx._source.data = null') return problem(400, 'script_exception', 'compile error');
  for (const { source } of meant) source.data = null;
  return { status: 200, body: { took: 7, updated: meant.length, version_conflicts: 0, failures: [] } };
}

function bulk(state: ElasticsearchServer, index: string, text: string, what: Trouble) {
  if (what === 'busy') return problem(429, REJECTED.type, REJECTED.reason);
  const lines = text.split('\n');
  if (lines.pop() !== '')
    return problem(400, 'illegal_argument_exception', 'The bulk request must be terminated by a newline [\\n]');
  const items: Json[] = [];
  for (let n = 0; n < lines.length; n += 2) {
    const { _id } = JSON.parse(lines[n] ?? '').index;
    const source = JSON.parse(lines[n + 1] ?? '');
    const size = Buffer.byteLength(_id);
    if (size > 512) {
      const reason = `id [${_id}] is too long, must be no longer than 512 bytes but was: ${size}`;
      return problem(400, 'action_request_validation_exception', `Validation Failed: 1: ${reason};`);
    }
    const fault =
      what === 'partly' && (n / 2) % 3 === 1 ? [429, REJECTED] : what === 'refuses' && n === 2 ? [400, REFUSED] : null;
    const done = fault ? { _index: index, _id, status: fault[0], error: fault[1] } : store(state, index, _id, source);
    items.push({ index: done });
  }
  return { status: 200, body: { took: 7, errors: items.some((i) => i.index.error), items } };
}
