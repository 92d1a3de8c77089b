import type { Kind } from '../contract/snapshot.ts';
import { groupOfGid } from '../domain/tasks.ts';
import * as items from '../services/items/items.ts';
import { type Context, Problem } from '../services/shared/service.ts';
import * as tasks from '../services/tasks/tasks.ts';
import type { Caller } from './auth.ts';

/** The input of a call, after its check, for the functions of its scope. */
export interface ScopedCall<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

/** The names in a call. A call without any is about all queues, so bound keys may not make it. */
interface Named<Call> {
  /** Queues, topics, courts, groups or executors. */
  queue?(call: Call): string | undefined | (string | undefined)[];
  /** Items by their kind and ids, for the queues that they are in. */
  item?(call: Call): [Kind, ...ids: string[]] | undefined;
  /** A task, for its executor. */
  task?(call: Call): string | undefined;
  /** The answer is a page over all queues: bound keys get the entries whose queue, in this field, is theirs. */
  list?: string;
}

/**
 * How an endpoint treats keys that are bound to queues. All queues and items that a call names must be in the key's queues.
 * `any`: it is about no queue. `unbound`: it is about all queues, so bound keys may not call it. `handler`: its handler
 * checks or filters.
 */
export type Scope<Call> = 'any' | 'unbound' | 'handler' | Named<Call>;

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

/**
 * Those of these items that are in none of the key's queues, with the refusal of each: to reviewers they are unknown.
 * Ids of no item are left to the endpoint.
 */
export async function foreignItems(ctx: Context, caller: Caller, kind: Kind, ids: string[]) {
  if (caller.queues === null || ids.length === 0) return new Map<string, Problem>();
  const foreign = (await items.getAll(ctx, kind, ids)).filter(({ queue }) => !inScope(caller, queue));
  const refusal = (id: string) =>
    caller.role === 'reviewer'
      ? new Problem('not_found', `there is no ${kind} ${id}`)
      : new Problem('forbidden', `this key is for other queues than that of ${kind} ${id}`);
  return new Map(foreign.map(({ id }) => [id, refusal(id)]));
}

/** @throws Problem `forbidden`, or `not_found` */
export async function checkItems(ctx: Context, caller: Caller, kind: Kind, ids: string[]): Promise<void> {
  for (const refusal of (await foreignItems(ctx, caller, kind, ids)).values()) throw refusal;
}

/** Checks a call with a key that is bound to queues. @throws Problem `forbidden`, or `not_found` */
export async function checkScope<Call>(ctx: Context, caller: Caller, scope: Scope<Call>, call: Call): Promise<void> {
  if (scope === 'any' || scope === 'handler') return;
  const named: Named<Call> = scope === 'unbound' ? {} : scope;
  const queues = [named.queue?.(call)].flat().filter((name) => name !== undefined);
  const item = named.item?.(call);
  const task = named.task?.(call);
  if (queues.length === 0 && !item && task === undefined && named.list === undefined)
    throw new Problem('forbidden', 'this key is for some queues only, and this call is about all');
  checkNames(caller, queues);
  if (item) {
    const [kind, ...ids] = item;
    await checkItems(ctx, caller, kind, ids);
  }
  const executor = task === undefined ? undefined : (await tasks.get(ctx, task))?.executor;
  if (executor !== undefined) checkNames(caller, [executor]);
}

/** The entries in the key's queues. A page may have fewer entries than asked for; its cursor stays. */
export function scoped<Call>(caller: Caller, scope: Scope<Call>, answer: unknown): unknown {
  if (typeof scope === 'string' || scope.list === undefined) return answer;
  const { list: field } = scope;
  const { items } = answer as { items: Record<string, unknown>[] };
  return { ...(answer as object), items: items.filter((entry) => isOwn(caller, entry[field])) };
}

/** Deliveries of reviews have no queue. */
const isOwn = (caller: Caller, queue: unknown) => typeof queue === 'string' && inScope(caller, queue);
