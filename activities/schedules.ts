import { addItems } from '../db/items.ts';
import type { Db } from '../db/pool.ts';
import { ensureQueue } from '../db/queues.ts';
import { getSchedule } from '../db/schedules.ts';
import { bodyBytes } from '../domain/jobs.ts';
import { contentHash } from '../services/tokens.ts';

export interface ScheduleActivities {
  /** Adds the job of one firing; its id is made of schedule and instant, so it cannot be added twice. */
  addOccurrence(topic: string, name: string, at: string): Promise<void>;
}

const ACTOR = 'schedule';

export function scheduleActivities(db: Db): ScheduleActivities {
  return {
    async addOccurrence(topic, name, at) {
      const schedule = await getSchedule(db, topic, name);
      if (!schedule) return;
      await ensureQueue(db, 'job', topic);
      const id = occurrenceId(topic, name, at);
      const hash = contentHash([topic, id, schedule.body]);
      const item = {
        id,
        hash,
        queue: topic,
        priority: schedule.priority,
        body: schedule.body,
        requires: [],
        exclude: [],
        callback: null,
        delaySeconds: 0,
        deadlineSeconds: null,
        createdAt: null,
        actor: ACTOR,
        leaseSeconds: schedule.ttr,
        bodyBytes: bodyBytes(schedule.body).length,
      };
      await addItems(db, 'job', [item]);
    },
  };
}

/** `topic:name@instant` where that is an id; else, where it is too long or has a topic's other signs, a hash of it. */
function occurrenceId(topic: string, name: string, at: string): string {
  const plain = `${topic}:${name}@${at}`;
  return /^[A-Za-z0-9._:~@-]{1,200}$/.test(plain) ? plain : `schedule-${contentHash([topic, name]).slice(0, 32)}@${at}`;
}
