export { courtCase } from './cases.ts';
export { redelivery } from './deliveries.ts';
export { job } from './jobs.ts';
export { review } from './reviews.ts';
export { periodic } from './schedules.ts';
export { rotation, task } from './tasks.ts';
export { ticket } from './tickets.ts';
