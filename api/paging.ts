import { isCut } from '../domain/pages.ts';
import { ok } from './endpoint.ts';

/** The position of a row in a list by time, as `PageByTime` reads it. */
export const timePosition = (time: Date, { seq }: { seq: number }): string => `${time.toISOString()}_${seq}`;

/** A page. There is a next one where `rows` has one row more than `limit`, or rows were left out for their size. */
export function page<T extends object, U>(
  rows: T[],
  limit: number,
  view: (row: T) => U,
  position: (row: T) => number | string,
) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit || isCut(rows);
  return { items: items.map(view), nextCursor: more && last !== undefined ? String(position(last)) : null };
}

/** Answers with a page of these rows, as `page` makes it. */
export const listed = async <T extends object, U>(
  rows: Promise<T[]>,
  limit: number,
  view: (row: T) => U,
  position: (row: T) => number | string,
) => ok(page(await rows, limit, view, position));
