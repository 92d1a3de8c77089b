const two = (n: number) => String(n).padStart(2, '0');

/** A moment as `<input type="datetime-local">` writes it, in the browser's time zone. */
export function localText(iso: string): string {
  const d = new Date(iso);
  const [date, time] = [
    [d.getMonth() + 1, d.getDate()],
    [d.getHours(), d.getMinutes(), d.getSeconds()],
  ];
  const fraction = d.getMilliseconds() ? `.${String(d.getMilliseconds()).padStart(3, '0')}` : '';
  return `${d.getFullYear()}-${date.map(two).join('-')}T${time.map(two).join(':')}${fraction}`;
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
