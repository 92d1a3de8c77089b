import { claimOne, eventTypes, eventually, type Http, insist, type Json, type Reply } from './http.ts';

export { claimOne, eventTypes };

/** Adds a new ticket. */
export const add = async (client: Http, queue: string, ticket: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/queues/${queue}/tickets`, { body: null, ...ticket }), 'add', 201);

/** As many as a call may have. */
const BATCH = 1_000;

/** Adds many at once, some of them only by their ids; the ids in order. */
export async function addMany(client: Http, queue: string, tickets: (object | string)[]): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < tickets.length; from += BATCH) {
    const some = tickets.slice(from, from + BATCH);
    const sent = some.map((t) => ({ body: null, ...(typeof t === 'string' ? { id: t } : t) }));
    const { results } = insist(await client.post(`/v1/queues/${queue}/tickets/batch`, { tickets: sent }), 'batch', 200);
    const bad = results.find((r: Json) => r.httpStatus !== 201);
    if (bad) throw new Error(`batch: ${JSON.stringify(bad)}`);
    ids.push(...results.map((r: Json) => r.id));
  }
  return ids;
}

/** Replaces a queue's settings. */
export const configure = async (client: Http, queue: string, settings: object): Promise<Json> =>
  insist(await client.put(`/v1/queues/${queue}`, settings), 'queue', 200);

export const stats = async (client: Http, queue: string): Promise<Json> =>
  insist(await client.get(`/v1/queues/${queue}/stats`), 'stats', 200);

/** The whole answer to a claim. */
export const claim = async (client: Http, queue: string, reviewer: string, more: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/queues/${queue}/claim`, { reviewer, ...more }), 'claim', 200);

/** Adds tickets to an empty queue, and claims the first. */
export async function addHeld(
  client: Http,
  queue: string,
  tickets: string | object | string[],
  reviewer = 'anna',
): Promise<Json> {
  for (const one of [tickets].flat()) await add(client, queue, typeof one === 'string' ? { id: one } : one);
  return claimOne(client, queue, reviewer);
}

export const ticket = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`/v1/tickets/${id}`), 'ticket', 200);

export const inState = (client: Http, id: string, state: string, ms?: number): Promise<unknown> =>
  eventually(async () => (await ticket(client, id)).state === state, ms);

export const events = async (client: Http, id: string): Promise<Json[]> =>
  insist(await client.get(`/v1/tickets/${id}/events?limit=500`), 'events', 200).items;

/** The events of a ticket with their actors, like `claimed by anna`. */
export const history = async (client: Http, id: string): Promise<string[]> =>
  (await events(client, id)).map((e) => `${e.type} by ${e.actor}`);

export const deliveries = async (client: Http, id: string): Promise<Json[]> =>
  insist(await client.get(`/v1/tickets/${id}/deliveries`), 'deliveries', 200).items;

/** Decides a ticket as it came from a claim. */
export const decide = (client: Http, held: Json, decision: unknown = 'ok', more: object = {}): Promise<Reply> =>
  client.post(`/v1/tickets/${held.id}/decide`, { token: held.lease.token, decision, ...more });

/** Adds a ticket, and decides the next one of its queue. */
export async function decided(client: Http, queue: string, ticket: object = {}): Promise<Json> {
  await add(client, queue, ticket);
  return insist(await decide(client, await claimOne(client, queue, 'anna')), 'decision', 200).ticket;
}

/** Any other call with a claimed ticket's token. */
export const withToken = (client: Http, held: Json, call: string, more: object = {}): Promise<Reply> =>
  client.post(`/v1/tickets/${held.id}/${call}`, { token: held.lease.token, ...more });

/** A model's suggestion. */
export const suggest = (
  client: Http,
  id: string,
  model: string,
  decision: unknown,
  confidence: number,
  more: object = {},
): Promise<Reply> => client.post(`/v1/tickets/${id}/suggestions`, { model, decision, confidence, ...more });

/** A suggestion that must be taken. */
export const suggested = async (...args: Parameters<typeof suggest>): Promise<Json> =>
  insist(await suggest(...args), 'suggestion', 201);

/** An operator's call about a ticket. */
export const operate = (client: Http, id: string, call: string, body: object = { reason: 'r' }): Promise<Reply> =>
  client.post(`/v1/tickets/${id}/${call}`, body);

/** Ids of the tickets that reviewers are handed now, one each, in the order of their claims. */
export async function drain(client: Http, queue: string, n: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < n; i++) {
    const { tickets } = await claim(client, queue, `drain-${i}-${Date.now()}`);
    ids.push(tickets[0]?.id ?? 'nothing');
  }
  return ids;
}
