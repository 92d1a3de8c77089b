import type { z } from '@hono/zod-openapi';
import { isCut } from '../domain/pages.ts';
import { asReviewer, type ticketView } from '../domain/tickets.ts';
import type { Caller } from './auth.ts';
import { ok } from './endpoint.ts';

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

/** The fields that a row has columns for. */
type View<R, Field> = {
  [Column in keyof R & string as Extract<Camel<Column>, Field>]: R[Column] extends infer V
    ? V extends Date
      ? string
      : V
    : never;
};

/**
 * Makes a function that shows a row in the fields of a schema: each field has the value of the column of the same name in
 * snake case, times as ISO 8601. Fields without such a column are left to the caller.
 */
export function viewOf<S extends z.ZodRawShape>({ shape }: z.ZodObject<S>) {
  const columns = Object.keys(shape).map(
    (field) => [field, field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] as const,
  );
  return <R extends object>(row: R) => {
    const view: Record<string, unknown> = {};
    for (const [field, column] of columns) {
      const value = (row as Record<string, unknown>)[column];
      if (value !== undefined) view[field] = value instanceof Date ? value.toISOString() : value;
    }
    return view as View<R, keyof S>;
  };
}

/** A ticket as this caller may see it, also one that they decided; a reviewer is not told who holds it instead of them. */
export function asSeenBy<V extends ReturnType<typeof ticketView>>({ role, subject }: Caller, view: V): V {
  if (role !== 'reviewer' && role !== 'agent') return view;
  const lease = role === 'agent' || view.lease?.reviewer === subject ? view.lease : null;
  return { ...asReviewer(view), lease };
}

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

export const listed = async <T extends object, U>(
  rows: Promise<T[]>,
  limit: number,
  view: (row: T) => U,
  position: (row: T) => number | string,
) => ok(page(await rows, limit, view, position));

export const csvHeaders = { 'content-type': 'text/csv; charset=utf-8' };

/** A text as RFC 4180 quotes it, which a spreadsheet takes for no formula. */
export const csvCell = (text: string) => `"${text.replaceAll('"', '""').replace(/^(?=[=+\-@\t\r])/, "'")}"`;
