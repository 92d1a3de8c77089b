import { said } from '../said.ts';

/** The page of the admin log. */
export const adminLog = {
  lead: 'Who changed settings and keys, and what came of it. A line is written before the change is made.',
  none: 'There are no changes.',
  path: said('Path', 'Only changes to this path and below it, for example /v1/queues/spam'),
  shown: 'Show',
  unknown: 'not known',
  changes: 'Changes',
  columns: { at: 'When', actor: 'Who', operation: 'What', path: 'Path', status: 'Answer', more: 'Details' },
};
