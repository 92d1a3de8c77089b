export { lastingPort } from '../../runtime/ports.ts';
