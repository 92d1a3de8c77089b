import { addFiring } from '../services/jobs/schedules.ts';
import type { Context } from '../services/shared/context.ts';

export type ScheduleActivities = ReturnType<typeof scheduleActivities>;

/** Activities of schedules' workflows. The name `addOccurrence` stays, because their histories contain it. */
export const scheduleActivities = (ctx: Context) => ({
  addOccurrence: (topic: string, name: string, at: string) => addFiring(ctx, topic, name, at),
});
