import { insist } from './cases.ts';
import { type Client, type Json, walk } from './client.ts';

/** Creates or edits a review. */
export const put = async (client: Client, id: string, review: object, status = 201): Promise<Json> =>
  insist(await client.put(`/v1/reviews/${id}`, review), 'put', status);

/** Sends a callback and waits for what becomes of it. */
export const tell = async (client: Client, id: string, callback: object): Promise<Json> =>
  insist(await client.post(`/v1/reviews/${id}/callbacks`, { waitSeconds: 60, ...callback }), 'callback', 200);

/** Sends a callback and doesn't wait. */
export const drop = async (client: Client, id: string, callback: object): Promise<Json> =>
  insist(await client.post(`/v1/reviews/${id}/callbacks`, callback), 'callback', 202);

export const stores = async (client: Client, id: string): Promise<Json> =>
  insist(await client.get(`/v1/reviews/${id}/stores`), 'stores', 200);

/** The whole log, by following its cursors. */
export const logOf = (client: Client, id: string): Promise<Json[]> => walk(client, `/v1/reviews/${id}/log`, 500);

/** A callback for each of so many reviews at once, more than a worker applies in a second. */
export async function flood(client: Client, names: string[], status: number): Promise<void> {
  await Promise.all(names.map((id) => drop(client, id, { kind: 'text', status })));
}
