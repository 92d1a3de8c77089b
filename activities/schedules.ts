import type { ScheduleService } from '../services/jobs/schedules.ts';

export type ScheduleActivities = ReturnType<typeof scheduleActivities>;

/** What workflows of schedules ask of the database. The name stays as it is, because their histories contain it. */
export const scheduleActivities = ({ addFiring }: ScheduleService) => ({ addOccurrence: addFiring });
