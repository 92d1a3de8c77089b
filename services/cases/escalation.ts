import type { CaseItem } from '../../contract/items.ts';
import { caseView } from '../../domain/cases.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/service.ts';
import { contentHash } from '../shared/tokens.ts';
import { addCases } from './adding.ts';
import type { Court } from './courts.ts';

const actor = 'system';

/**
 * Brings a hung case to the court of appeal or the queue of tickets that its court names (S2.7); once, because the id
 * of the new case or ticket is derived from the case's.
 */
export async function escalateHung(ctx: Context, item: CaseItem): Promise<void> {
  const { db } = ctx;
  const [court] = await db.run('get_court', { name: item.queue, deleted: true });
  const fallback = court?.fallback;
  if (!fallback || 'extendSeconds' in fallback) return;
  const id = followUpId(item);
  const note = (type: string, data: object) => db.move('note_item', { kind: 'case', id: item.id, type, actor, data });
  if ('queue' in fallback) {
    if (await ask(ctx, item, fallback.queue, id)) await note('escalated', { ...fallback, id });
    return;
  }
  const [appeals] = await db.run('get_court', { name: fallback.court, deleted: false });
  if (!appeals) await note('refused', { attempt: 'escalate', reason: 'not_found', ...fallback });
  else if ((await appeal(ctx, item, appeals, id)).length > 0) await note('escalated', { ...fallback, id });
}

/** `case~court`, or a hash of it where that is too long for an id: cut off, it could be the case's own id. */
function followUpId({ id, queue }: CaseItem): string {
  const plain = `${id}~${queue}`;
  return plain.length <= 200 ? plain : `hung-${contentHash([id, queue]).slice(0, 64)}`;
}

function appeal({ db }: Context, { parties, body, callback }: CaseItem, court: Court, id: string) {
  const hash = contentHash({ court: court.name, parties, body });
  return addCases(db, [{ id, court, parties, body, callback, deadlineSeconds: null, gold: null, hash, actor }]);
}

/** Adds a ticket with the case, for people who are not its parties. */
async function ask(ctx: Context, item: CaseItem, queue: string, id: string) {
  await queues.ensure(ctx, 'ticket', queue);
  const body = { case: caseView(item) };
  const plain = { priority: 0, requires: [], exclude: item.parties.map((p) => p.id), callback: null };
  const times = { delaySeconds: 0, deadlineSeconds: null, createdAt: null };
  const ticket = { id, queue, body, hash: contentHash(body), ...plain, ...times, actor };
  return items.add(ctx, 'ticket', ticket);
}
