import type { Queryable } from './pool.ts';

/** A row of `schedule`: what a periodic job is made of; its rhythm is also with Temporal. */
export interface Schedule {
  topic: string;
  name: string;
  every_seconds: number | null;
  cron: string | null;
  timezone: string;
  body: unknown;
  ttr: number;
  priority: number;
  created_at: Date;
  updated_at: Date;
  /** Its place in lists, newest first. */
  seq: number;
}

export type NewSchedule = Omit<Schedule, 'created_at' | 'updated_at' | 'seq'>;

export async function putSchedule(db: Queryable, s: NewSchedule): Promise<Schedule> {
  const values = [s.topic, s.name, s.every_seconds, s.cron, s.timezone, JSON.stringify(s.body), s.ttr, s.priority];
  const [row] = await db.run<Schedule>('put_schedule', values);
  if (!row) throw new Error('put_schedule returned no row');
  return row;
}

export async function getSchedule(db: Queryable, topic: string, name: string): Promise<Schedule | undefined> {
  return (await db.run<Schedule>('get_schedule', [topic, name]))[0];
}

export const listSchedules = (db: Queryable, topic: string, before: number | null, limit: number) =>
  db.run<Schedule>('list_schedules', [topic, before, limit]);

export async function deleteSchedule(db: Queryable, topic: string, name: string): Promise<boolean> {
  return (await db.run('delete_schedule', [topic, name])).length === 1;
}
