import { z } from '@hono/zod-openapi';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { checkEntry, invalid, Problem } from '../services/shared/service.ts';
import { idFromKey } from '../services/shared/tokens.ts';
import type { Caller } from './auth.ts';
import { checkValues } from './body.ts';
import { problemOf } from './endpoint.ts';

/** The value of the header. */
export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/**
 * The id of the item that a call adds: the given one, else one derived from its `Idempotency-Key`; undefined: it has neither.
 * @throws Problem 422 for a malformed key, also where the id is given
 */
export function wantedId(
  given: string | undefined,
  caller: Caller,
  kind: Kind | 'template',
  key: string | undefined,
): string | undefined {
  if (key !== undefined && !IdempotencyKey.safeParse(key).success)
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  return given ?? (key === undefined ? undefined : idFromKey(caller.id, kind, key));
}

/** An entry of a batch, checked as the body of a call of its own would be. @throws Problem 422, `payload_too_large` */
export function checkedEntry<S extends z.ZodType>(schema: S, name: string, sent: unknown): z.output<S> {
  checkValues(sent);
  checkEntry(name, sent);
  const parsed = schema.safeParse(sent);
  if (!parsed.success) throw problemOf(parsed.error, name);
  return parsed.data;
}

/** Adds one entry of a batch. A rejected one is a result, so that it does not affect the others. */
export async function entryOfBatch<S extends z.ZodType>(
  schema: S,
  name: string,
  sent: unknown,
  add: (entry: z.output<S>) => Promise<{ item: Pick<Item, 'id'>; created: boolean }>,
) {
  try {
    const { item, created } = await add(checkedEntry(schema, name, sent));
    return { id: item.id, httpStatus: created ? 201 : 200 };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { id: idOf(sent), httpStatus: error.status, code: error.code, detail: error.message };
  }
}

/** The id of a batch's entry as it was sent; null: it is missing or no string. */
export function idOf(sent: unknown): string | null {
  const id = (sent as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : null;
}
