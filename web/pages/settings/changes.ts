import { isSame } from '../../components/form/draft.ts';
import type { Given } from './settings-of.ts';

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
