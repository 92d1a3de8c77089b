import { insist } from './cases.ts';
import type { Client, Json, Reply } from './client.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** An instant so many milliseconds from now, as it is sent. */
export const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

export const addTemplate = async (client: Client, id: string, params: object = {}): Promise<Json> =>
  insist(await client.post('/v1/templates', { id, name: id, params }), 'template', 200, 201);

export const putGroup = async (client: Client, id: string, members: string[]): Promise<Json> =>
  insist(await client.put(`/v1/groups/${id}`, { members }), 'group', 200);

/** A task that is due, once, for a template without parameters; whatever is sent beside replaces that. */
export const sendTask = (client: Client, sent: object): Promise<Reply> =>
  client.post('/v1/tasks', { type: 'once', startTime: inMs(-1000), templateId: 'plain', ...sent });

export const addTask = async (client: Client, sent: object): Promise<Json> =>
  insist(await sendTask(client, sent), 'task', 201);

export const patchTask = async (client: Client, id: string, change: object): Promise<Json> =>
  insist(await client.patch(`/v1/tasks/${id}`, change), 'patch', 200);

export const deleteTask = async (client: Client, id: string): Promise<Json> =>
  insist(await client.raw('DELETE', `/v1/tasks/${id}`), 'delete', 200);

/** What a user is handed, or why nothing. */
export const next = async (client: Client, uid: string, more: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/clients/${uid}/next`, more), 'next', 200);

/** A pull that must hand out something. */
export async function handed(client: Client, uid: string, more: object = {}): Promise<Json> {
  const answer = await next(client, uid, more);
  if (!answer.task) throw new Error(`${uid} got nothing: ${JSON.stringify(answer)}`);
  return answer;
}

export const complete = (client: Client, uid: string, logId: string, result: unknown = null): Promise<Reply> =>
  client.post(`/v1/clients/${uid}/complete`, { logId, result });

/** A completion that must be taken. */
export const completed = async (client: Client, uid: string, logId: string, result: unknown = null): Promise<Json> =>
  insist(await complete(client, uid, logId, result), 'complete', 200);

/** Pulls and completes until there is nothing more; what it was given, in order. */
export async function pullAll(client: Client, uid: string): Promise<Json[]> {
  const all: Json[] = [];
  for (;;) {
    const { task, logId } = await next(client, uid);
    if (!task) return all;
    await completed(client, uid, logId);
    all.push(task);
  }
}

export const occurrences = async (client: Client, id: string, from: string, to: string): Promise<Json[]> => {
  const { executor } = (await client.get(`/v1/tasks/${id}`)).body;
  const query = new URLSearchParams({ executor, expand: 'occurrences', limit: '500', from, to });
  const { items } = insist(await client.get(`/v1/tasks?${query}`), 'tasks', 200);
  return items.find((t: Json) => t.id === id)?.occurrences ?? [];
};

export const dispatchLog = async (client: Client, filter: string): Promise<Json[]> =>
  insist(await client.get(`/v1/dispatch-log?limit=500&${filter}`), 'log', 200).items;
