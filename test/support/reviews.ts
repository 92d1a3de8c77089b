import { type Http, insist, type Json, walk } from './http.ts';

/** Creates or edits a review. */
export const put = async (client: Http, id: string, review: object, status = 201): Promise<Json> =>
  insist(await client.put(`/v1/reviews/${id}`, review), 'put', status);

/** Sends a callback and waits for what becomes of it. */
export const tell = async (client: Http, id: string, callback: object): Promise<Json> =>
  insist(await client.post(`/v1/reviews/${id}/callbacks`, { waitSeconds: 60, ...callback }), 'callback', 200);

/** Sends a callback and doesn't wait. */
export const drop = async (client: Http, id: string, callback: object): Promise<Json> =>
  insist(await client.post(`/v1/reviews/${id}/callbacks`, callback), 'callback', 202);

export const review = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`/v1/reviews/${id}`), 'review', 200);

export const workflow = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`/v1/reviews/${id}/workflow`), 'workflow', 200);

export const stores = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`/v1/reviews/${id}/stores`), 'stores', 200);

/** The whole log, by following its cursors; pages of large reviews end early. */
export const logOf = (client: Http, id: string, limit = 500): Promise<Json[]> =>
  walk(client, `/v1/reviews/${id}/log`, limit, false);

/** A callback for each of so many reviews at once, more than a worker applies in a second. */
export async function flood(client: Http, names: string[], status: number): Promise<void> {
  await Promise.all(names.map((id) => drop(client, id, { kind: 'text', status })));
}
