import { z } from '@hono/zod-openapi';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { checkEntry, invalid, Problem } from '../services/shared/problems.ts';
import { idFromKey } from '../services/shared/tokens.ts';
import type { Caller } from './auth.ts';
import { checkValues } from './body.ts';
import { problemOf } from './endpoint.ts';

/** Of the header. */
export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/**
 * The id of what a call adds: the one it gives, or that of its `Idempotency-Key`; undefined: it has none of these.
 * @throws Problem 422 for a key of other characters, also where it is not needed
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

/**
 * An entry of a batch, checked as the body of a call of its own would be.
 * @throws Problem 422, `payload_too_large`
 */
export function checkedEntry<S extends z.ZodType>(schema: S, name: string, sent: unknown): z.output<S> {
  checkValues(sent);
  checkEntry(name, sent);
  const parsed = schema.safeParse(sent);
  if (!parsed.success) throw problemOf(parsed.error, name);
  return parsed.data;
}

/** One entry of a batch, whatever it is: a bad one doesn't harm the others. */
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

/** The id that an entry of a batch gives; null: none that could be one. */
export function idOf(sent: unknown): string | null {
  const id = (sent as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : null;
}
