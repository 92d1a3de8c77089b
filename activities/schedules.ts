import type { ScheduleService } from '../services/schedules.ts';

/** What workflows of schedules ask of the database. */
export type ScheduleActivities = Pick<ScheduleService, 'addOccurrence'>;

export const scheduleActivities = ({ addOccurrence }: ScheduleService): ScheduleActivities => ({ addOccurrence });
