export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A part of an object or a list: the name or number by which it is in there, and itself. */
export type Entry = [name: string, value: Json];

/** What an object or a list holds; null for what holds nothing. */
export function entriesOf(value: Json): Entry[] | null {
  if (Array.isArray(value)) return value.map((part, n) => [String(n + 1), part]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : null;
}

/** Shown from the start: what is near the top and not much. */
export const isOpenAtFirst = (depth: number, entries: number) => depth < 3 && entries <= 30;

const SHORT = 40;

/** Fits into a line with others. */
export const isShort = (value: Json): boolean =>
  entriesOf(value) === null && /^[^\n]*$/.test(String(value)) && String(value).length <= SHORT;
