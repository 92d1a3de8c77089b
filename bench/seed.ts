import { createHash } from 'node:crypto';
import { addItems, type NewItem } from '../db/items.ts';
import { ensureQueue } from '../db/queues.ts';
import type { Lab } from './lab.ts';

const BATCH = 2_000;

export const BODY = {
  kind: 'report',
  text: 'A comment that somebody reported, of ordinary length.',
  author: 'u1234567',
};

/**
 * Puts tickets into a queue by the statement that the API uses, and takes their workflows as told:
 * the outbox is emptied, so that a run doesn't measure the telling of what was there before it.
 */
export async function seedTickets(lab: Lab, queue: string, n: number, requires: string[] = []): Promise<void> {
  const start = performance.now();
  await ensureQueue(lab.db, 'ticket', queue);
  let next = 0;
  const work = async () => {
    while (next < n) {
      const from = next;
      next += BATCH;
      const items = Array.from({ length: Math.min(BATCH, n - from) }, (_, i) =>
        newItem(`${queue}-${from + i}`, queue, requires),
      );
      await addItems(lab.db, 'ticket', items);
      await lab.sql("delete from outbox where node = 'bench'");
    }
  };
  await Promise.all([work(), work()]);
  await lab.sql("delete from outbox where node = 'bench'");
  await lab.sql('vacuum analyze item');
  await lab.sql('vacuum analyze event');
  const seconds = (performance.now() - start) / 1000;
  lab.say(`  ${n.toLocaleString('en-US')} tickets in ${queue} after ${seconds.toFixed(0)} s`);
}

function newItem(id: string, queue: string, requires: string[]): NewItem {
  const content = { queue, priority: 0, body: BODY, requires, exclude: [], callback: null };
  const rest = { delaySeconds: 0, deadlineSeconds: null, createdAt: null };
  return { id, actor: 'bench', ...content, ...rest, hash: createHash('sha256').update(id).digest('hex') };
}
