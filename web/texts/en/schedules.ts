import { said } from '../said.ts';

/** The page of periodic jobs. */
export const schedules = {
  lead: 'A schedule adds a job to its topic again and again.',
  topic: 'Topic',
  of: (topic: string) => `Schedules of ${topic}`,
  none: 'This topic has no schedules.',
  choose: 'Choose a topic to see its schedules.',
  create: 'New schedule',
  change: 'Change',
  save: 'Save',
  saved: (name: string) => `The schedule ${name} is saved.`,
  deleteHint: 'It adds no further jobs; those that it has added stay.',
  every: (duration: string) => `every ${duration}`,
  columns: { rhythm: 'Rhythm', zone: 'Time zone', priority: 'Priority', changed: 'Changed', actions: 'Actions' },
  name: said('Name', '1 to 200 of A–Z, a–z, 0–9 and . _ : ~ @ -'),
  everySeconds: said('Every', 'Whole seconds. Either this or a cron expression.'),
  cron: said('Cron expression', 'Such as 0 9 * * 1-5. Either this or an interval.'),
  timezone: said('Time zone', 'In which the cron expression counts.'),
  ttr: said('Time to run', 'How long a job may be reserved before it is ready again.'),
  priority: said('Priority', '0 to 4294967295; smaller goes first.'),
  body: said('Body (JSON)', 'Of each job.'),
};
