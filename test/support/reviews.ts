import type { Client, Json, Reply } from './client.ts';

function insist({ status, body }: Reply, what: string, ...wanted: number[]): Json {
  if (!wanted.includes(status)) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return body;
}

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
export async function logOf(client: Client, id: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: Reply = await client.get(`/v1/reviews/${id}/log?limit=500${cursor && `&cursor=${cursor}`}`);
    all.push(...insist(next, 'log', 200).items);
    cursor = next.body.nextCursor;
  }
  return all;
}
