import type { ShownTicket } from '../../contract/items.ts';
import type { QueueRow } from '../../db/statements.ts';
import { fits, formQueueOf } from '../items/forms.ts';
import { type Context, perContext } from '../shared/service.ts';

const MOST_LEASES = 20_000;
const MOST_QUEUES = 1_000;

/** What this process knows: the queue of each lease that it has granted, and settings that decisions depend on. */
const known = perContext(() => ({ queues: new Map<string, string>(), settings: new Map<string, QueueRow>() }));

function keep<T>(all: Map<string, T>, key: string, value: T, most: number): void {
  if (all.size >= most) all.clear();
  all.set(key, value);
}

export const noteLease = (ctx: Context, item: ShownTicket): void => {
  if (item.lease_id !== null) keep(known(ctx).queues, item.lease_id, formQueueOf(item), MOST_LEASES);
};

export const noteSettings = (ctx: Context, queue: QueueRow | undefined): void => {
  if (queue) keep(known(ctx).settings, queue.name, queue, MOST_QUEUES);
};

/**
 * Checks a decision by what this process knows, which spares three statements where the queue has a form or syncs. Where
 * that is no longer true, the statement that settles finds it out, and so it decides nothing here.
 * @returns the settings version whose form it fits; null: none; and whether it also decides others of its subject
 */
export async function expected(ctx: Context, token: string, decision: unknown) {
  const { queues, settings } = known(ctx);
  const queue = settings.get(queues.get(token) ?? '');
  const syncs = queue?.sync === 'subject';
  if (!queue?.form) return { formVersion: null, syncs };
  const isFit = await fits(ctx, queue, queue.form, decision).catch(() => false);
  return { formVersion: isFit ? queue.settings_version : null, syncs };
}
