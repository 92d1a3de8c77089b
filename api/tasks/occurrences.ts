import { OccurrenceParam } from '../../contract/tasks.ts';
import { findOccurrence } from '../../services/tasks/tasks.ts';
import { itemEndpoints } from '../items.ts';

export const oneOccurrence = itemEndpoints({
  kind: 'task',
  one: 'an occurrence',
  tag: 'Tasks',
  operations: 'Occurrence',
  base: '/v1/tasks/{id}/occurrences/{occurrence}',
  scope: { task: ({ params }) => params.id },
  find: findOccurrence,
  params: OccurrenceParam,
  // normalised to UTC
  idOf: ({ id, occurrence = '' }) => `${id}/${new Date(occurrence).toISOString()}`,
});
