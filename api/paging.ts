import { z } from 'zod';
import { isCut } from '../db/pages.ts';
import { checkValues } from './body.ts';
import { invalid } from './problems.ts';

/** A page's last position, opaque to callers. */
const cursorOf = (position: unknown): string => Buffer.from(JSON.stringify(position)).toString('base64url');

/** @throws Problem 422 for a cursor that is not one of ours */
export function positionOf<T>(cursor: string | undefined, isPosition: (value: unknown) => value is T): T | undefined {
  if (cursor === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    // NUL and halves of surrogate pairs, which the database cannot take
    checkValues(value);
  } catch {
    throw invalid('cursor', 'is not a cursor of this list');
  }
  if (!isPosition(value)) throw invalid('cursor', 'is not a cursor of this list');
  return value;
}

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

const Creation = z.tuple([z.iso.datetime({ precision: 3 }).refine((t) => Date.parse(t) >= 0), z.number().int()]);

/** Time of creation and number: the place of an item in lists that begin with the newest. */
export const isCreation = (value: unknown): value is [string, number] => Creation.safeParse(value).success;

/** One row more than the page was read: if it is there, or rows were left out for their size, there is a next page. */
export function page<T extends object, U>(
  rows: T[],
  limit: number,
  view: (row: T) => U,
  position: (row: T) => unknown,
) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit || isCut(rows);
  return { items: items.map(view), nextCursor: more && last !== undefined ? cursorOf(position(last)) : null };
}
