import type { z } from '@hono/zod-openapi';
import { CourtParam } from '../contract/courts.ts';
import { JobParam, TopicParam } from '../contract/jobs.ts';
import { IdParam, QueueParam } from '../contract/names.ts';
import type { Kind } from '../contract/snapshot.ts';
import { ClientParam, GroupParam, TemplateParam } from '../contract/tasks.ts';
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

/** Of a table that a browser saves. */
export const csvHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
});

/** A text as RFC 4180 quotes it, which a spreadsheet takes for no formula. */
export const csvCell = (text: string) => `"${text.replaceAll('"', '""').replace(/^(?=[=+\-@\t\r])/, "'")}"`;

// What the endpoints about one resource share: the parameters of their path, how they treat keys that are bound to queues,
// and the problem for a name that does not exist. Queues, topics and groups may be made by naming them.

type Path<Name extends string> = { params: Record<Name, string> };

/** An endpoint with further problems lists this one, too. */
const problems = ['not_found'] as const;
const item = (kind: Kind) => ({ item: ({ params }: Path<'id'>): [Kind, string] => [kind, params.id] });
const queue = <Name extends string>(name: Name) => ({ queue: ({ params }: Path<Name>) => params[name] });
const task = { task: ({ params }: Path<'id'>) => params.id };

export const ticketById = { tag: 'Tickets', params: IdParam, scope: item('ticket'), problems } as const;
export const jobById = { tag: 'Jobs', params: JobParam, scope: item('job'), problems } as const;
export const caseById = { tag: 'Cases', params: IdParam, scope: item('case'), problems } as const;
export const taskById = { tag: 'Tasks', params: IdParam, scope: task, problems } as const;
export const reviewById = { tag: 'Reviews', params: IdParam, scope: 'unbound', problems } as const;
export const queueByName = { tag: 'Queues', params: QueueParam, scope: queue('queue') } as const;
/** The same where the name must be there already. */
export const knownQueue = { ...queueByName, problems } as const;
export const topicByName = { tag: 'Jobs', params: TopicParam, scope: queue('topic') } as const;
export const knownTopic = { ...topicByName, problems } as const;
export const courtByName = { tag: 'Courts', params: CourtParam, scope: queue('court'), problems } as const;
export const groupById = { tag: 'Tasks', params: GroupParam, scope: queue('gid') } as const;
export const knownGroup = { ...groupById, problems } as const;
export const clientByUid = { tag: 'Tasks', params: ClientParam, scope: 'unbound' } as const;
export const templateById = { tag: 'Tasks', params: TemplateParam, scope: 'unbound', problems } as const;
