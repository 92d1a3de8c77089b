import { randomBytes } from 'node:crypto';
import type { Item } from '../../contract/items.ts';
import type { NewJob } from '../../contract/jobs.ts';
import { bodyBytes } from '../../domain/jobs.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import type { Context } from '../shared/context.ts';
import { addOnce } from '../shared/problems.ts';
import { contentHash } from '../shared/tokens.ts';

/** How often a number is drawn again because a job added in the same instant has the name that goes with it. */
const DRAWS = 100;

/** What a job may bring along where its topic says less (docs/lmstfy.md). */
export interface JobLimits {
  /** How often it is handed out before it is buried; left out: as often as its topic says. */
  attempts?: number;
  /** After so many seconds it is deleted, unless it is buried; left out: never. */
  ttlSeconds?: number;
  /** Handed out beside the body. */
  attributes?: Record<string, string>;
}

export interface JobAdding {
  /** @throws Problem `id_conflict` when the id stands for other content, `invalid_request` when it is too long */
  add(job: NewJob, actor: string): Promise<{ item: Item; created: boolean }>;
  /** Adds without an id: the job is named `topic:number`. */
  put(job: Omit<NewJob, 'id'>, actor: string, limits?: JobLimits): Promise<Item>;
}

export function adding(ctx: Context): JobAdding {
  const insert = async (
    id: string | null,
    hash: string,
    job: Omit<NewJob, 'id'>,
    actor: string,
    limits?: JobLimits,
  ) => {
    await queues.ensure(ctx, 'job', job.topic);
    return items.add(ctx, 'job', { actor, ...newItem(id, hash, job), ...limitsOf(limits) });
  };
  return {
    async add({ id, ...job }, actor) {
      const hash = contentHash(job);
      return addOnce(
        { what: 'job', id, hash },
        () => insert(id, hash, job, actor),
        () => items.get(ctx, 'job', id),
      );
    },
    async put(job, actor, limits) {
      for (let draw = 0; draw < DRAWS; draw++) {
        const item = await insert(null, randomBytes(32).toString('hex'), job, actor, limits);
        if (item) return item;
      }
      throw new Error(`no free number for a job of ${job.topic}`);
    },
  };
}

const newItem = (id: string | null, hash: string, job: Omit<NewJob, 'id'>) => ({
  ...{ id, hash, queue: job.topic, priority: job.priority, body: job.body },
  ...{ delaySeconds: job.delay, leaseSeconds: job.TTR, bodyBytes: bodyBytes(job.body).length },
  ...{ requires: [], exclude: [], callback: null, deadlineSeconds: null, createdAt: null },
});

const limitsOf = ({ attempts, ttlSeconds, attributes }: JobLimits = {}) => ({
  ...(attempts !== undefined && { maxAttempts: attempts }),
  ...(ttlSeconds !== undefined && { deadlineSeconds: ttlSeconds }),
  ...(attributes && { attributes }),
});
