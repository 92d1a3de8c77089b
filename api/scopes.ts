import type { Driven, Kind } from '../contract/snapshot.ts';
import { isItem, kindAt } from '../domain/kinds.ts';
import { groupOfGid } from '../domain/tasks.ts';
import * as items from '../services/items/items.ts';
import { Problem } from '../services/shared/problems.ts';
import type { Api } from './api.ts';
import type { Caller } from './auth.ts';

/** What a call names, as its endpoint has checked it. */
export interface Named {
  /** `get /v1/queues/{queue}` */
  endpoint: string;
  path: string;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** Lists over all, and the field by which each entry belongs to a queue, topic, court or executor. */
const LISTS: Record<string, string> = {
  '/v1/items': 'queue',
  '/v1/tickets': 'queue',
  '/v1/queues': 'name',
  '/v1/topics': 'name',
  '/v1/courts': 'name',
  '/v1/cases': 'court',
  '/v1/groups': 'id',
  '/v1/tasks': 'executor',
  '/v1/deliveries': 'queue',
  '/v1/jurors/{juror}/invitations': 'court',
};

/** Which look at what they are about themselves, or are about no queue. */
const OWN = new Set([
  ...['post /v1/jobs', 'get /v1/stream', 'post /v1/stream-tickets', 'get /v1/session', 'delete /v1/session'],
  'get /v1/overview',
  ...['get /v1/templates', 'post /v1/templates', 'get /v1/templates/{id}'],
]);

/** Whether a key may act and read in a queue, topic, court or group. A group is also its executor, `gid_` before it. */
export function inScope({ queues }: Pick<Caller, 'queues'>, name: string): boolean {
  if (queues === null) return true;
  const names = [name, groupOfGid(name)];
  return queues.some((q) => names.some((n) => (q.endsWith('*') ? n.startsWith(q.slice(0, -1)) : n === q)));
}

/** @throws Problem `forbidden` for one that is none of the key's */
export function checkNames(caller: Caller, names: Iterable<string>): void {
  for (const name of names)
    if (!inScope(caller, name)) throw new Problem('forbidden', `this key is for other queues than ${name}`);
}

/** Unknown items are left to the endpoint. @throws Problem `forbidden` */
export async function checkItems(api: Api, caller: Caller, kind: Kind, ids: string[]): Promise<void> {
  if (caller.queues === null || ids.length === 0) return;
  checkNames(caller, await items.queuesOf(api.ctx, kind, ids));
}

/**
 * For keys that are bound to queues, whatever they call: checks what a call names, and the queue of each item that
 * it names. An endpoint that this file doesn't know is not for such keys.
 * @throws Problem `forbidden`
 */
export async function checkScope(api: Api, caller: Caller, named: Named): Promise<void> {
  const { endpoint, path, params, query, body } = named;
  const names = namesIn(named);
  checkNames(caller, names);
  const item = kindAt(path);
  if (item) return checkItems(api, caller, item, [String(params.id)]);
  // reviews are of no queue
  const kind = params.kind as Driven;
  if (path.startsWith('/v1/deliveries/{kind}/') && isItem(kind))
    return checkItems(api, caller, kind, [String(params.itemId)]);
  if (path === '/v1/tickets/resolve')
    return checkItems(
      api,
      caller,
      'ticket',
      (body.items as { id: string }[]).map((i) => i.id),
    );
  if (path.startsWith('/v1/tasks/{id}')) return checkTask(api, caller, String(params.id));
  if (path.endsWith('/explain') && body.ticket !== undefined)
    await checkItems(api, caller, 'ticket', [String(body.ticket)]);
  if (path === '/v1/dispatch-log' && query.taskId !== undefined) return checkTask(api, caller, String(query.taskId));
  if (names.length === 0 && !(path in LISTS) && !OWN.has(endpoint))
    throw new Problem('forbidden', 'this key is for some queues only, and this call is about all');
}

/** Of a list over all, only what is the key's: a page may have fewer entries than asked for. Its cursor goes on. */
export function scoped(caller: Caller, path: string, answer: unknown): unknown {
  const field = LISTS[path];
  if (field === undefined) return answer;
  const { items } = answer as { items?: Record<string, unknown>[] };
  if (!items) return answer;
  return { ...(answer as object), items: items.filter((entry) => inScope(caller, String(entry[field]))) };
}

async function checkTask(api: Api, caller: Caller, id: string): Promise<void> {
  const task = await api.services.tasks.get(id);
  if (task) checkNames(caller, [task.executor]);
}

function namesIn({ path, params, query, body }: Named): string[] {
  const fallback = body.fallback as { court?: string; queue?: string } | null | undefined;
  const found = [
    ...[params.queue, params.topic, params.court, params.gid],
    ...[query.queue, query.court],
    ...[path.startsWith('/v1/tasks') ? (query.executor ?? body.executor) : undefined],
    ...[path.endsWith('/transfer') ? body.queue : undefined],
    ...[fallback?.court, fallback?.queue],
  ];
  return found.filter((name) => name !== undefined).map(String);
}
