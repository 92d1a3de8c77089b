import { type Http, insist, type Json, type Reply } from './http.ts';

/** A command of the delay queue, which must be answered with 200. */
export const job = async (client: Http, command: string, fields: object = {}): Promise<Json> =>
  insist(await client.post('/v1/jobs', { command, ...fields }), command, 200);

const pathOf = (id: string) => `/v1/jobs/${encodeURIComponent(id)}`;

export const oneJob = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(pathOf(id)), 'job', 200);

export const events = async (client: Http, id: string): Promise<Json[]> =>
  insist(await client.get(`${pathOf(id)}/events`), 'events', 200).items;

export const eventTypes = async (client: Http, id: string): Promise<string[]> =>
  (await events(client, id)).map((e) => e.type);

export const workflow = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`${pathOf(id)}/workflow`), 'workflow', 200);

export const jobsOf = async (client: Http, topic: string): Promise<Json[]> =>
  insist(await client.get(`/v1/topics/${encodeURIComponent(topic)}/jobs?limit=500`), 'jobs', 200).items;

export const stats = async (client: Http, topic: string): Promise<Json> =>
  insist(await client.get(`/v1/topics/${encodeURIComponent(topic)}/stats`), 'stats', 200);

/** An operator takes a job away from all consumers. */
export const bury = (client: Http, id: string, reason = 'poisonous'): Promise<Reply> =>
  client.post(`${pathOf(id)}/bury`, { reason });
