import type { Item } from '../contract/items.ts';
import type { Db } from '../db/pool.ts';
import { isFinal, stateWord } from '../domain/items.ts';
import { type Find, idOf, type JobRef } from './jobs-finding.ts';
import { Problem } from './problems.ts';

/** Jobs that one statement kicks, which bounds how long it locks. */
const KICKED_TOGETHER = 1_000;

export type Waiting = 'ready' | 'delayed' | 'buried';

/** Puts jobs aside so that no one gets them, and lets them go again (S3). Throws a Problem: `not_found`, `not_open`. */
export interface JobsAside {
  /** Puts an open job aside until it is kicked; who has it reserved loses it. Repeated, it changes nothing. */
  putAside(id: string, actor: string, reason: string): Promise<Item>;
  /** Makes `count` buried jobs of a topic ready, or where none is buried delayed ones; @returns how many it were. */
  kick(topic: string, count: number, actor: string): Promise<number>;
  /** @returns whether it was buried or delayed */
  kickOne(job: JobRef, actor: string): Promise<boolean>;
}

export function aside(db: Db, find: Find): JobsAside {
  return {
    async putAside(id, actor, reason) {
      const [buried] = await db.move('put_job_aside', { id, actor, reason });
      const job = buried ?? (await find(id));
      if (isFinal(job.state)) throw new Problem('not_open', `job ${id} is ${stateWord('job', job.state)}`);
      return job;
    },
    async kick(topic, count, actor) {
      let kicked = 0;
      let begun: { state: Waiting; since: Date } | undefined;
      while (kicked < count) {
        const limit = Math.min(KICKED_TOGETHER, count - kicked);
        const rows = await db.move('kick_topic', { topic, limit, actor, ...begun });
        kicked += rows.length;
        const [first] = rows;
        if (!first || rows.length < limit) break;
        // a Date has milliseconds, the database's clock has more
        begun ??= { state: first.kicked_from, since: new Date(first.updated_at.getTime() + 1) };
      }
      return kicked;
    },
    async kickOne(job, actor) {
      const id = await idOf(find, job);
      const kicked = await db.move('kick_job', { id, actor });
      if (kicked.length === 0) await find(id);
      return kicked.length > 0;
    },
  };
}
