import { type Http, insist, type Json, type Reply } from './http.ts';
import { inMs } from './times.ts';

export const addTemplate = async (client: Http, id: string, params: object = {}): Promise<Json> =>
  insist(await client.post('/v1/templates', { id, name: id, params }), 'template', 200, 201);

export const putGroup = async (client: Http, id: string, members: string[]): Promise<Json> =>
  insist(await client.put(`/v1/groups/${id}`, { members }), 'group', 200);

/** A task that is due, once, for a template without parameters; whatever is sent beside replaces that. */
export const sendTask = (client: Http, sent: object): Promise<Reply> =>
  client.post('/v1/tasks', { type: 'once', startTime: inMs(-1000), templateId: 'plain', ...sent });

export const addTask = async (client: Http, sent: object): Promise<Json> =>
  insist(await sendTask(client, sent), 'task', 201);

/** A task that occurs again and again, each hour unless something else is sent. */
export const addRotation = (client: Http, sent: object): Promise<Json> =>
  addTask(client, { type: 'rotate', everyMinutes: 60, ...sent });

export const patchTask = async (client: Http, id: string, change: object): Promise<Json> =>
  insist(await client.patch(`/v1/tasks/${id}`, change), 'patch', 200);

export const deleteTask = async (client: Http, id: string): Promise<Json> =>
  insist(await client.raw('DELETE', `/v1/tasks/${id}`), 'delete', 200);

/** What a user is handed, or why nothing. */
export const next = async (client: Http, uid: string, more: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/clients/${uid}/next`, more), 'next', 200);

/** A pull that must hand out something. */
export async function handed(client: Http, uid: string, more: object = {}): Promise<Json> {
  const answer = await next(client, uid, more);
  if (!answer.task) throw new Error(`${uid} got nothing: ${JSON.stringify(answer)}`);
  return answer;
}

export const complete = (client: Http, uid: string, logId: string, result: unknown = null): Promise<Reply> =>
  client.post(`/v1/clients/${uid}/complete`, { logId, result });

/** A completion that must be taken. */
export const completed = async (client: Http, uid: string, logId: string, result: unknown = null): Promise<Json> =>
  insist(await complete(client, uid, logId, result), 'complete', 200);

/** A pull that must hand out something, and its completion. */
export async function work(client: Http, uid: string, more: object = {}): Promise<Json> {
  const answer = await handed(client, uid, more);
  await completed(client, uid, answer.logId);
  return answer;
}

/** Pulls and completes until there is nothing more; the tasks that were handed out, in order. */
export async function pullAll(client: Http, uid: string): Promise<Json[]> {
  const all: Json[] = [];
  for (;;) {
    const { task, logId } = await next(client, uid);
    if (!task) return all;
    await completed(client, uid, logId);
    all.push(task);
  }
}

export const occurrences = async (client: Http, id: string, from: string, to: string): Promise<Json[]> => {
  const { executor } = (await client.get(`/v1/tasks/${id}`)).body;
  const query = new URLSearchParams({ executor, expand: 'occurrences', limit: '500', from, to });
  const { items } = insist(await client.get(`/v1/tasks?${query}`), 'tasks', 200);
  return items.find((t: Json) => t.id === id)?.occurrences ?? [];
};

export const events = async (client: Http, id: string, occurrence: string): Promise<Json[]> =>
  insist(await client.get(`/v1/tasks/${id}/occurrences/${occurrence}/events?limit=500`), 'events', 200).items;

export const eventTypes = async (client: Http, id: string, occurrence: string): Promise<string[]> =>
  (await events(client, id, occurrence)).map((e) => e.type);

export const dispatchLog = async (client: Http, filter: string): Promise<Json[]> =>
  insist(await client.get(`/v1/dispatch-log?limit=500&${filter}`), 'log', 200).items;

/** The users to whom the log says that a task was dispatched. */
export const dispatchedTo = async (client: Http, id: string): Promise<string[]> =>
  (await dispatchLog(client, `taskId=${id}`)).filter((l) => l.type === 'dispatched').map((l) => l.uid);
