export { awaiting } from './awaiting.ts';
export { redelivery } from './deliveries.ts';
// items of all kinds
export { default } from './kinds.ts';
export { review } from './reviews.ts';
export { periodic } from './schedules.ts';
