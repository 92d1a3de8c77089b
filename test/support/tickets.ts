import { insist } from './cases.ts';
import { type Client, claimOne, type Json, type Reply } from './client.ts';

/** Adds a new ticket. */
export async function add(client: Client, queue: string, ticket: object = {}): Promise<Json> {
  return insist(await client.post(`/v1/queues/${queue}/tickets`, { body: null, ...ticket }), 'add', 201);
}

/** Adds many at once, some of them only by their ids; the ids in order. */
export async function addMany(client: Client, queue: string, tickets: (object | string)[]): Promise<string[]> {
  const sent = tickets.map((t) => ({ body: null, ...(typeof t === 'string' ? { id: t } : t) }));
  const { results } = insist(await client.post(`/v1/queues/${queue}/tickets/batch`, { tickets: sent }), 'batch', 200);
  const bad = results.find((r: Json) => r.httpStatus !== 201);
  if (bad) throw new Error(`batch: ${JSON.stringify(bad)}`);
  return results.map((r: Json) => r.id);
}

/** Replaces a queue's settings. */
export async function configure(client: Client, queue: string, settings: object): Promise<Json> {
  return insist(await client.put(`/v1/queues/${queue}`, settings), 'queue', 200);
}

/** A claim's whole answer. */
export async function claim(client: Client, queue: string, reviewer: string, more: object = {}): Promise<Json> {
  return insist(await client.post(`/v1/queues/${queue}/claim`, { reviewer, ...more }), 'claim', 200);
}

export async function ticket(client: Client, id: string): Promise<Json> {
  return insist(await client.get(`/v1/tickets/${id}`), 'ticket', 200);
}

export async function events(client: Client, id: string): Promise<Json[]> {
  return insist(await client.get(`/v1/tickets/${id}/events?limit=500`), 'events', 200).items;
}

/** Decides a ticket as it came from a claim. */
export const decide = (client: Client, held: Json, decision: unknown = 'ok', more: object = {}): Promise<Reply> =>
  client.post(`/v1/tickets/${held.id}/decide`, { token: held.lease.token, decision, ...more });

/** Adds a ticket, and decides the next one of its queue. */
export async function decided(client: Client, queue: string, ticket: object = {}): Promise<Json> {
  await add(client, queue, ticket);
  return insist(await decide(client, await claimOne(client, queue, 'anna')), 'decision', 200).ticket;
}

/** Any other call with a claimed ticket's token. */
export const withToken = (client: Client, held: Json, call: string, more: object = {}): Promise<Reply> =>
  client.post(`/v1/tickets/${held.id}/${call}`, { token: held.lease.token, ...more });

/** Who would be handed which tickets now: a reviewer each, in the order of their claims. */
export async function drain(client: Client, queue: string, n: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < n; i++) {
    const { tickets } = await claim(client, queue, `drain-${i}-${Date.now()}`);
    ids.push(tickets[0]?.id ?? 'nothing');
  }
  return ids;
}

/** Small random numbers that are the same in every run. */
export function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}
