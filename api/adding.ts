import { z } from '@hono/zod-openapi';
import type { Kind } from '../contract/snapshot.ts';
import { checkValues, problemOf } from '../services/shared/checks.ts';
import { checkEntry, invalid, Problem } from '../services/shared/service.ts';
import { tried } from '../services/shared/sets.ts';
import { idFromKey } from '../services/shared/tokens.ts';
import type { Caller } from './auth.ts';

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

/** What came of an entry of a batch, with its id as it was sent. */
interface Outcome<T> {
  outcome: T | Problem;
  id: string | null;
}

/**
 * Adds the entries of a batch as a set. A rejected one is an outcome, so that it does not affect the others.
 * @param check what a call of an entry's own would check
 */
export async function addBatch<Entry, T>(
  sent: unknown[],
  check: (sent: unknown) => Entry,
  add: (entries: Entry[]) => Promise<(T | Error)[]>,
): Promise<Outcome<T>[]> {
  const checked = sent.map((each) => tried(() => check(each)));
  const outcomes = (await add(checked.filter((entry) => !(entry instanceof Error)) as Entry[])).values();
  return checked.map((entry, n) => {
    const outcome = entry instanceof Error ? entry : (outcomes.next().value as T | Error);
    if (outcome instanceof Error && !(outcome instanceof Problem)) throw outcome;
    return { outcome, id: idOf(sent[n]) };
  });
}

/** The result of a ticket or case of a batch. */
export const batchResult = ({ outcome, id }: Outcome<{ item: { id: string }; created: boolean }>) =>
  outcome instanceof Problem
    ? { id, httpStatus: outcome.status, code: outcome.code, detail: outcome.message }
    : { id: outcome.item.id, httpStatus: outcome.created ? 201 : 200 };

/** The id of a batch's entry as it was sent; null: it is missing or no string. */
function idOf(sent: unknown): string | null {
  const id = (sent as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : null;
}
