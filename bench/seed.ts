import { createHash } from 'node:crypto';
import { addItems, type NewItem } from '../db/items.ts';
import { bodyBytes } from '../domain/jobs.ts';
import { contentHash } from '../services/shared/tokens.ts';
import { type Lab, withoutWorkflows } from './lab.ts';
import { newJobs } from './measure.ts';

const BATCH = 2_000;
const JOB_TTR = 60;

export const BODY = {
  kind: 'report',
  text: 'A comment that someone reported, of ordinary length.',
  author: 'u1234567',
};

/**
 * Puts tickets into a queue by the statement that the API uses, without workflows, so that a run doesn't measure the
 * publishing of what was there before it.
 */
export const seedTickets = (lab: Lab, queue: string, n: number, requires: string[] = []): Promise<void> =>
  withoutWorkflows(lab, () => addTickets(lab, queue, n, requires));

/** The same with their workflows, which followers start from then on. */
export function addTickets(lab: Lab, queue: string, n: number, requires: string[] = []): Promise<void> {
  let at = 0;
  const next = (size: number) => Array.from({ length: size }, () => newItem(`${queue}-${at++}`, queue, requires));
  return seed(lab, 'ticket', queue, n, next);
}

/** Puts delayed jobs into a topic, as `add` writes them. */
export const seedJobs = (lab: Lab, topic: string, n: number, delaySeconds: number): Promise<void> =>
  withoutWorkflows(lab, () =>
    seed(lab, 'job', topic, n, (size) =>
      newJobs(size, delaySeconds).map(({ id, body }) => {
        const content = { body, priority: 1024 };
        const hash = contentHash({ topic, delay: delaySeconds, TTR: JOB_TTR, ...content });
        const rest = { delaySeconds, leaseSeconds: JOB_TTR, bodyBytes: bodyBytes(body).length };
        return { ...NOTHING_ELSE, id, queue: topic, hash, ...content, ...rest };
      }),
    ),
  );

async function seed(lab: Lab, kind: 'ticket' | 'job', queue: string, n: number, next: (size: number) => NewItem[]) {
  const start = performance.now();
  await lab.db.run('ensure_queue', { kind, name: queue });
  let left = n;
  const work = async () => {
    while (left > 0) {
      const size = Math.min(BATCH, left);
      left -= size;
      await addItems(lab.db, kind, next(size));
    }
  };
  await Promise.all([work(), work()]);
  await lab.sql('vacuum analyze item');
  await lab.sql('vacuum analyze event');
  const seconds = (performance.now() - start) / 1000;
  lab.say(`  ${n.toLocaleString('en-US')} ${kind}s in ${queue} after ${seconds.toFixed(0)} s`);
}

const NOTHING_ELSE = {
  ...{ actor: 'bench', requires: [], exclude: [], callback: null },
  ...{ delaySeconds: 0, deadlineSeconds: null, createdAt: null },
};

export function newItem(id: string, queue: string, requires: string[]): NewItem {
  const hash = createHash('sha256').update(id).digest('hex');
  return { ...NOTHING_ELSE, id, queue, priority: 0, body: BODY, requires, hash };
}
