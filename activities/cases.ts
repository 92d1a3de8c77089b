import type { CaseItem } from '../contract/items.ts';
import { addCases } from '../db/cases.ts';
import { getCourt } from '../db/courts.ts';
import { addItems } from '../db/items.ts';
import type { Db } from '../db/pool.ts';
import { ensureQueue } from '../db/queues.ts';
import { caseView } from '../domain/cases.ts';
import { verdictOf } from '../services/courts.ts';
import { contentHash } from '../services/tokens.ts';

const ACTOR = 'system';

/**
 * Takes a case that hangs to the court of appeal or the queue of tickets that its court names; once, because what
 * is made there is named after the case (S2.7).
 */
export async function escalateHung(db: Db, item: CaseItem): Promise<void> {
  const court = await getCourt(db, item.queue);
  const fallback = court?.fallback;
  if (!fallback || 'extendSeconds' in fallback) return;
  const id = `${item.id}~${item.queue}`.slice(0, 200);
  const note = (type: string, data: object) =>
    db.move('note_item', { kind: 'case', id: item.id, type, actor: ACTOR, data });
  const made =
    'court' in fallback ? await appeal(db, item, fallback.court, id) : await ask(db, item, fallback.queue, id);
  if (made === null) {
    await note('refused', { attempt: 'escalate', reason: 'not_found', ...fallback });
    return;
  }
  if (made.length > 0) await note('escalated', { ...fallback, id });
}

/** @returns null: there is no such court */
async function appeal(db: Db, item: CaseItem, name: string, id: string) {
  const court = await getCourt(db, name);
  if (!court) return null;
  const { votesLeft, priority } = verdictOf(court, {}, 0);
  const { parties, body, callback } = item;
  const hash = contentHash({ court: name, parties, body });
  const row = {
    votesLeft,
    priority,
    id,
    court: name,
    parties,
    body,
    hash,
    callback,
    deadlineSeconds: null,
    gold: null,
    actor: ACTOR,
  };
  return addCases(db, [row]);
}

async function ask(db: Db, item: CaseItem, queue: string, id: string) {
  await ensureQueue(db, 'ticket', queue);
  const body = { case: caseView(item) };
  const plain = { priority: 0, requires: [], exclude: item.parties.map((p) => p.id), callback: null };
  const times = { delaySeconds: 0, deadlineSeconds: null, createdAt: null };
  return addItems(db, 'ticket', [{ id, queue, body, hash: contentHash(body), ...plain, ...times, actor: ACTOR }]);
}
