import { OccurrenceParam } from '../../contract/tasks.ts';
import { findOccurrence } from '../../services/tasks/tasks.ts';
import { deliveryEndpoints, type ItemId } from '../deliveries.ts';
import { itemEndpoints } from '../items.ts';
import { taskById } from '../resources.ts';

const shown = {
  ...taskById,
  one: 'an occurrence',
  operations: 'Occurrence',
  base: '/v1/tasks/{id}/occurrences/{occurrence}',
  params: OccurrenceParam,
  // normalised to UTC
  idOf: ({ id, occurrence }: ItemId) => `${id}/${new Date(String(occurrence)).toISOString()}`,
  find: findOccurrence,
};
export const oneOccurrence = [...itemEndpoints('task', shown), ...deliveryEndpoints('task', shown)];
