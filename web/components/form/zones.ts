import { ownTimezone } from './moments.ts';

/** Time zones to choose from, the browser's own first. */
export const zones = (): string[] => [...new Set([ownTimezone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])];
