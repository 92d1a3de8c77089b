import type { Given } from './settings-of.ts';

/** A list that was left out is empty. */
const isNone = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);

/** Whether two values say the same, in whatever order their fields stand. */
function isSame(a: unknown, b: unknown): boolean {
  if (isNone(a) && isNone(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [a as Given, b as Given];
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  return [...names].every((name) => isSame(mine[name], theirs[name]));
}

/** The fields in which `after` is not as `before`. */
export const changedIn = (before: Given, after: Given): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(before[name], after[name]));

/**
 * What to send so that only what was changed here changes: the settings of now with the changed fields.
 * @returns `clashing`: fields that someone else has changed as well, to something else
 */
export function mergeChanges(before: Given, after: Given, now: Given): { merged: Given; clashing: string[] } {
  const changed = changedIn(before, after);
  const clashing = changed.filter((name) => !isSame(now[name], before[name]) && !isSame(now[name], after[name]));
  return { merged: { ...now, ...Object.fromEntries(changed.map((name) => [name, after[name]])) }, clashing };
}
