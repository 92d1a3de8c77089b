/** A moment as `<input type="datetime-local">` writes it, in the browser's time zone. What is none, as an address may have it, stays. */
export function localText(iso: string): string {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().replace(/(\.000)?Z$/, '');
}

/** The moment that such an input says; null for what is none. */
export function momentOf(text: string): string | null {
  const d = new Date(text);
  return Number.isNaN(d.getTime()) ? null : d.toISOString();
}

/** `Europe/Berlin` */
export const ownTimezone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Time zones to choose from, the browser's own first. */
export const zones = (): string[] => [...new Set([ownTimezone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])];
