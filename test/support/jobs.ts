import type { Client, Json } from './client.ts';

/** The answer to a command for jobs. */
export const job = async (client: Client, command: string, fields: object): Promise<Json> =>
  (await client.post('/v1/jobs', { command, ...fields })).body;
