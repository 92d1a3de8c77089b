import { z } from '@hono/zod-openapi';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import { invalid, Problem } from '../services/problems.ts';
import { idFromKey } from '../services/tokens.ts';
import type { Caller } from './auth.ts';
import { checkValues, problemOf, SMALL_BODY } from './endpoint.ts';

const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/**
 * The id that a call without one gets from its `Idempotency-Key`; undefined: it has none of these either.
 * @throws Problem 422 for a key of other characters
 */
export function keyedId(caller: Caller, kind: Kind | 'template', key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (!IdempotencyKey.safeParse(key).success)
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  return idFromKey(caller.id, kind, key);
}

/**
 * What an add comes to whose id exists already: the same item for the same content (S0.9).
 * @param hash SHA-256 of the content as it is sent now, hex
 * @throws Problem `id_conflict` when the id stands for other content, as it was first sent
 */
export function sameOrConflict<T extends Pick<Item, 'content_hash'>>(
  existing: T | undefined,
  kind: Kind | 'template',
  id: string,
  hash: string,
) {
  if (!existing || Buffer.compare(existing.content_hash, Buffer.from(hash, 'hex')) !== 0)
    throw new Problem('id_conflict', `${kind} ${id} exists with other content`);
  return { item: existing, created: false };
}

/**
 * An entry of a batch is bounded like a call of its own, measured as JSON without white space.
 * @throws Problem `payload_too_large`
 */
export function checkEntry(name: string, sent: unknown): void {
  if (Buffer.byteLength(JSON.stringify(sent) ?? '') > SMALL_BODY)
    throw new Problem('payload_too_large', `${name}: an entry of a batch may have ${SMALL_BODY} bytes at most`);
}

/** One entry of a batch, whatever it is: a bad one doesn't harm the others. */
export async function entryOfBatch<S extends z.ZodType>(
  schema: S,
  name: string,
  sent: unknown,
  add: (entry: z.output<S>) => Promise<{ item: Pick<Item, 'id'>; created: boolean }>,
) {
  try {
    checkValues(sent);
    checkEntry(name, sent);
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw problemOf(parsed.error, name);
    const { item, created } = await add(parsed.data);
    return { id: item.id, httpStatus: created ? 201 : 200 };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { id: idOf(sent), httpStatus: error.status, code: error.code, detail: error.message };
  }
}

function idOf(sent: unknown): string | null {
  const id = (sent as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : null;
}
