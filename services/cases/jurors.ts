import type { Juror } from '../../contract/courts.ts';
import { only, type Queryable } from '../../db/pool.ts';
import { batchesOf } from '../shared/batching.ts';
import type { Context } from '../shared/service.ts';
import { contentHash } from '../shared/tokens.ts';
import * as courts from './courts.ts';
import * as invitations from './invitations.ts';

/** A chunk of a list that replaces the court's. */
interface ListChunk {
  name: string;
  /** Whether it begins the list anew, dropping earlier chunks of this name. */
  first: boolean;
  /** Whether it is the last chunk, after which this list replaces the current one. */
  final: boolean;
}

/** Rows of one statement, which bounds the time for which it locks. */
const CHUNK = 5_000;
/** More persons than that count as "any juror of the court". */
const MOST_NAMED = 500;

/** The votes that a court's limits leave to a juror, their other accounts included. @throws Problem `not_found` */
export async function limits(ctx: Context, name: string, juror: string) {
  const court = await courts.get(ctx, name);
  return { court, ...only(await ctx.db.run('juror_limits', { court: name, juror })) };
}

/**
 * Adds or changes jurors of the court's list, or of one that is being uploaded (S2.3). Repeating the last chunk of an
 * upload changes nothing.
 * @returns the number of jurors that this list has now
 * @throws Problem `not_found`
 */
export async function put(ctx: Context, name: string, jurors: Juror[], chunk?: ListChunk): Promise<number> {
  const court = await courts.get(ctx, name);
  const list = chunk ? await upload(ctx, court, jurors, chunk) : court.list;
  if (!chunk) for (const rows of chunksOf(jurors)) await change(ctx, name, list, rows);
  invitations.look(ctx);
  return only(await ctx.db.run('count_jurors', { court: name, list })).n;
}

/** Changes the current list. Jurors who become eligible are invited at once where cases lack jurors. */
const change = ({ db }: Context, court: string, list: number, jurors: Juror[]) =>
  db.transaction(async (tx) => {
    await tx.run('lock_jurors', { court });
    const found = await tx.run('newly_invitable', { court, jurors, list, limit: MOST_NAMED + 1 });
    await tx.run('put_jurors', { court, list, jurors });
    await courts.endBarredHolds(tx, court, [...new Set(jurors.flatMap(({ id, person = id }) => [id, person]))]);
    await free(tx, court, found);
  });

/** Adds a chunk to its list; the last one makes that the court's current list. @returns the number of the list */
async function upload(
  ctx: Context,
  { name: court, list: before }: courts.Court,
  jurors: Juror[],
  chunk: ListChunk,
): Promise<number> {
  const { db } = ctx;
  const hash = contentHash(jurors);
  const [open] = await db.run('open_list', { court, hash, ...chunk });
  if (!open) return (await courts.get(ctx, court)).list;
  for (const rows of chunksOf(jurors)) await db.run('put_jurors', { court, list: open.list, jurors: rows });
  if (chunk.final)
    await db.transaction(async (tx) => {
      await tx.run('lock_jurors', { court });
      await tx.run('swap_list', { court, name: chunk.name, list: open.list, hash });
      await courts.endBarredHolds(tx, court);
      const lists = { court, before, now: open.list, limit: MOST_NAMED + 1 };
      await free(tx, court, await tx.run('list_difference', lists));
    });
  if (chunk.first || chunk.final) await db.run('forget_lists', { court });
  return open.list;
}

/** Records that these persons, or any juror of the court if they are too many, may have become free. */
async function free(tx: Queryable, court: string, found: { person: string }[]): Promise<void> {
  const persons = found.length <= MOST_NAMED ? found.map(({ person }) => person) : null;
  if (found.length > 0) await tx.run('free_jurors', { court, persons });
}

/** Splits jurors into chunks. The last of several entries with one id counts, so the ids are made unique first. */
const chunksOf = (jurors: Juror[]) => batchesOf([...new Map(jurors.map((juror) => [juror.id, juror])).values()], CHUNK);
