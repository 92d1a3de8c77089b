import type { Item } from '../../contract/items.ts';
import type { Db } from '../../db/pool.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { Problem } from '../shared/problems.ts';
import { type Find, idOf, type JobRef } from './finding.ts';

/** Jobs that one statement moves, which bounds how long it locks. */
const MOVED_TOGETHER = 1_000;

export type Waiting = 'ready' | 'delayed' | 'buried';

/** Puts jobs aside so that no one gets them, and lets them go again (S3). Throws a Problem: `not_found`, `not_open`. */
export interface JobsAside {
  /** Puts an open job aside until it is kicked; who has it reserved loses it. Repeated, it changes nothing. */
  putAside(id: string, actor: string, reason: string): Promise<Item>;
  /** Makes `count` buried jobs of a topic ready, or where none is buried delayed ones; @returns how many it were. */
  kick(topic: string, count: number, actor: string): Promise<number>;
  /** @returns whether it was buried or delayed */
  kickOne(job: JobRef, actor: string): Promise<boolean>;
  /**
   * Makes `count` buried jobs of a topic ready for one more attempt, the longest buried first.
   * @param ttlSeconds after which each is deleted; null: it is not
   * @returns how many it were
   */
  respawn(topic: string, count: number, ttlSeconds: number | null, actor: string): Promise<number>;
  /** Deletes the first `count` jobs of a topic that are in a state. @returns how many it were */
  clear(topic: string, state: 'ready' | 'buried', count: number, actor: string): Promise<number>;
}

/** In statements of a bounded size, until one finds fewer than it may move. */
async function inParts(count: number, move: (limit: number) => Promise<unknown[]>): Promise<number> {
  for (let moved = 0; ; ) {
    const limit = Math.min(MOVED_TOGETHER, count - moved);
    const { length } = limit > 0 ? await move(limit) : [];
    moved += length;
    if (length < limit || moved === count) return moved;
  }
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
        const limit = Math.min(MOVED_TOGETHER, count - kicked);
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
    respawn: (topic, count, ttl, actor) =>
      inParts(count, (limit) => db.move('respawn_jobs', { topic, limit, ttl: ttl ?? undefined, actor })),
    clear: (topic, state, count, actor) =>
      inParts(count, (limit) => db.move('clear_jobs', { topic, state, limit, actor })),
  };
}
