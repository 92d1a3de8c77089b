export { redelivery } from './deliveries.ts';
export { ticket } from './tickets.ts';
