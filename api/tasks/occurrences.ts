import { OccurrenceParam } from '../../contract/tasks.ts';
import { itemEndpoints } from '../items.ts';

export const oneOccurrence = itemEndpoints({
  kind: 'task',
  one: 'an occurrence',
  tag: 'Tasks',
  operations: 'Occurrence',
  base: '/v1/tasks/{id}/occurrences/{occurrence}',
  scope: { task: ({ params }) => params.id },
  find: (api, id) => api.services.tasks.findOccurrence(id),
  params: OccurrenceParam,
  // whatever zone its time was written in
  idOf: ({ id, occurrence = '' }) => `${id}/${new Date(occurrence).toISOString()}`,
});
