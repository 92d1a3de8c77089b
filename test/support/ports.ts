export { lastingPort } from '../../cli/servers/ports.ts';
