export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** A time so many milliseconds after `from`, as it is sent. */
export const inMs = (ms: number, from: string | number = Date.now()): string =>
  new Date((typeof from === 'string' ? Date.parse(from) : from) + ms).toISOString();

export const ago = (seconds: number): string => inMs(-1_000 * seconds);

/** Milliseconds between two times as they are received. */
export const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from);
