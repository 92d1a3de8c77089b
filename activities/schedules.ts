import type { ScheduleService } from '../services/schedules.ts';

/** What workflows of schedules ask of the database. The name stays as it is, because their histories contain it. */
export interface ScheduleActivities {
  addOccurrence: ScheduleService['addFiring'];
}

export const scheduleActivities = ({ addFiring }: ScheduleService): ScheduleActivities => ({
  addOccurrence: addFiring,
});
