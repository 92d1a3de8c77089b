import { addFiring } from '../services/jobs/schedules.ts';
import type { Context } from '../services/shared/context.ts';

export type ScheduleActivities = ReturnType<typeof scheduleActivities>;

/** What workflows of schedules ask of the database. The name stays as it is, because their histories contain it. */
export const scheduleActivities = (ctx: Context) => ({
  addOccurrence: (topic: string, name: string, at: string) => addFiring(ctx, topic, name, at),
});
