import { erased, Problem } from './service.ts';

/** What an add met may be cleared before it is read; that this happens so often in a row is as good as impossible. */
const ADDS = 10;

/** A record's id, and the SHA-256 of its content as it is sent now, hex. */
type New = Record<'id' | 'hash', string>;

/** Tries to add, or to find, these records. @returns for each what came of it; undefined, or left out: the next way is tried */
type Way<R, T> = (rows: R[]) => Promise<(T | Error | undefined)[]>;

/**
 * Adds records as a set, or finds those that have their ids already: the same ones for the same content (S0.9).
 * @param ways are tried in turn, again and again, with the records that are left
 * @returns in their order; an Error is the outcome of that record only: Problem `id_conflict` when the id stands for other
 * content, as it was first sent; `erased`
 */
export async function addEach<R extends New, T>(what: string, rows: R[], ways: Way<R, T>[]): Promise<(T | Error)[]> {
  const outcomes = new Map<R, T | Error>();
  let left = rows;
  for (let n = 0; left.length > 0 && n < ADDS * ways.length; n++) {
    const came = (await ways[n % ways.length]?.(left)) ?? [];
    for (const [at, outcome] of came.entries()) if (outcome !== undefined) outcomes.set(left[at] as R, outcome);
    left = left.filter((row) => !outcomes.has(row));
  }
  return rows.map(
    (row) => outcomes.get(row) ?? new Problem('unavailable', `${what} ${row.id} comes and goes, try again`),
  );
}

/** The way of those that are added. */
export const added =
  <R, T extends { id: string }>(insert: Way<R, T>): Way<R, { item: T; created: boolean }> =>
  async (rows) =>
    (await insert(rows)).map((item) => (item && !(item instanceof Error) ? { item, created: true } : item));

/** The way of those whose ids exist. */
export const met =
  <R extends New, E extends Existing & { id: string }>(what: string, find: (ids: string[]) => Promise<E[]>) =>
  async (rows: R[]) => {
    const byId = new Map((await find(rows.map(({ id }) => id))).map((row) => [row.id, row]));
    return rows.map(({ id, hash }) => {
      const existing = byId.get(id);
      return existing && tried(() => ({ item: sameContent(existing, what, id, hash), created: false }));
    });
  };

/** The outcome of a part of a set. A problem is one, so that it does not affect the others. */
export function tried<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The outcome of a set of one. @throws what came of it */
export function one<T>([outcome]: (T | Error)[]): T {
  if (outcome instanceof Error) throw outcome;
  return outcome as T;
}

/** Templates are never erased. */
interface Existing {
  content_hash: Uint8Array;
  erased?: boolean;
}

/** A record that exists, if it has the same content. @throws Problem as `addEach` */
export function sameContent<T extends Existing>(existing: T, what: string, id: string, hash: string) {
  if (existing.erased) throw erased(`${what} ${id}`);
  if (Buffer.compare(existing.content_hash, Buffer.from(hash, 'hex')) !== 0)
    throw new Problem('id_conflict', `${what} ${id} exists with other content`);
  return existing;
}
