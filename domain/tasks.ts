import type { Completion, Item } from '../contract/items.ts';
import type { TemplateParams } from '../contract/tasks.ts';
import { defineKind, reopened, stays, wordIn } from './kind.ts';

const words = {
  delayed: 'delayed',
  ready: 'due',
  settled: 'completed',
  expired: 'missed',
  invalidated: 'cancelled',
} as const;

/** A user's name without the prefix, which is optional. */
export const personOfUid = (uid: string): string => uid.replace(/^(uid_)+(?=.)/, '');
export const groupOfGid = (gid: string): string => gid.replace(/^(gid_)+(?=.)/, '');

/** The queue of an executor (`uid_…` or `gid_…`). */
export const queueOfExecutor = (executor: string): string =>
  executor.startsWith('gid_') ? `gid_${groupOfGid(executor)}` : `uid_${personOfUid(executor)}`;

export interface Mismatch {
  path: string;
  message: string;
}

/** All differences between params and their template (S4.1). */
export function mismatches(template: TemplateParams, params: Record<string, unknown>): Mismatch[] {
  const wrong: Mismatch[] = [];
  for (const [name, { type, required }] of Object.entries(template)) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) {
      if (required) wrong.push({ path: `params.${name}`, message: 'is required by the template' });
    } else if (typeOf(value) !== type)
      wrong.push({ path: `params.${name}`, message: `must be of type ${type}, is ${typeOf(value)}` });
  }
  for (const name of Object.keys(params))
    if (!Object.hasOwn(template, name)) wrong.push({ path: `params.${name}`, message: 'is not in the template' });
  return wrong;
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** The time of an occurrence in the form that its id has. */
export const instantOf = (itemId: string): string => itemId.slice(itemId.indexOf('/') + 1);
export const taskOf = (itemId: string): string => itemId.slice(0, itemId.indexOf('/'));

/**
 * An occurrence as its task's callback receives it: with user, log id and result of the completion that ended it, and the
 * users of the others. Their results are in the dispatch log.
 */
function occurrenceView(item: Item, completions: Completion[]) {
  const last = completions.at(-1);
  return {
    id: taskOf(item.id),
    occurrence: instantOf(item.id),
    startTime: item.available_at.toISOString(),
    state: wordIn(words, item.state),
    executor: item.queue,
    params: item.body,
    ...(item.result as { completed?: number } | null),
    uid: last?.uid ?? null,
    logId: last?.logId ?? null,
    result: last?.result ?? null,
    completions: completions.map(({ uid, logId, completedAt }) => ({ uid, logId, completedAt })),
    endedAt: item.ended_at?.toISOString() ?? null,
  };
}

/** An occurrence of a task. One with dispatches ends with the last of them, as completed if any was. */
export const task = defineKind({
  title: 'Occurrences of tasks',
  words,
  lifecycle: {
    none: { created: ['ready', 'delayed'] },
    delayed: {
      available: 'ready',
      changed: ['delayed', 'expired'],
      expired: 'expired',
      cancelled: 'invalidated',
      ...stays('delayed', 'parked', 'refused'),
    },
    ready: {
      dispatched: 'ready',
      completed: ['ready', 'settled'],
      returned: ['ready', 'settled', 'expired', 'invalidated'],
      changed: ['ready', 'settled', 'expired'],
      expired: ['ready', 'settled', 'expired'],
      cancelled: ['ready', 'settled', 'invalidated'],
      ...stays('ready', 'parked', 'refused'),
    },
    settled: { rescheduled: 'ready', ...stays('settled', 'delivered', 'delivery_failed', 'refused', 'erased') },
    expired: { rescheduled: ['ready', 'delayed'], ...stays('expired', 'refused', 'erased') },
    invalidated: { rescheduled: ['ready', 'delayed'], ...stays('invalidated', 'refused', 'erased') },
  },
  leased: 'several',
  workflow: reopened('task'),
  signals: { cancel: 'invalidate' },
  court: false,
  clock: 'advance_tasks',
  exhausted: null,
  overdue: null,
  order: 'age',
  quiet: ['created', 'available', 'dispatched', 'completed'],
  // a dispatch or a completion adds nothing to the stock
  frees: ({ last_event, capacity }) =>
    last_event === 'dispatched' || last_event === 'completed' ? 0 : (capacity ?? 0),
  outcome: occurrenceView,
});
