import type { Juror } from '../../contract/courts.ts';
import { only, type Queryable } from '../../db/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { contentHash } from '../shared/tokens.ts';
import type { Court, CourtService } from './courts.ts';
import type { Invitations } from './invitations.ts';

/** A chunk of a list that replaces the court's. */
interface ListChunk {
  name: string;
  /** Drops what has been uploaded under this name so far. */
  first: boolean;
  /** From its end on, this list counts and no other. */
  final: boolean;
}

/** Rows of one statement, which bounds how long it locks. */
const CHUNK = 5_000;
/** More persons than that count as "any juror of the court". */
const MOST_NAMED = 500;

export function jurorService({ db }: Runtime, courts: CourtService, invitations: Invitations) {
  /** Changes the list that counts: jurors who may be invited from now on are invited at once where jurors are missing. */
  const change = (court: string, list: number, jurors: Juror[]) =>
    db.transaction(async (tx) => {
      const found = await tx.run('newly_invitable', { court, jurors, list, limit: MOST_NAMED + 1 });
      await tx.run('put_jurors', { court, list, jurors });
      await free(tx, court, found);
    });
  /** From now on the list counts that has been uploaded under this name. */
  const swap = (court: string, { name, hash }: ListChunk & { hash: string }, before: number, now: number) =>
    db.transaction(async (tx) => {
      await tx.run('swap_list', { court, name, list: now, hash });
      await free(tx, court, await tx.run('list_difference', { court, before, now, limit: MOST_NAMED + 1 }));
    });
  /** @returns the number of the list that the chunk belongs to */
  const upload = async ({ name: court, list: before }: Court, jurors: Juror[], chunk: ListChunk): Promise<number> => {
    const hash = contentHash(jurors);
    const [open] = await db.run('open_list', { court, hash, ...chunk });
    if (!open) return (await courts.get(court)).list;
    for (const rows of chunksOf(jurors)) await db.run('put_jurors', { court, list: open.list, jurors: rows });
    if (chunk.final) await swap(court, { ...chunk, hash }, before, open.list);
    if (chunk.first || chunk.final) await db.run('forget_lists', { court });
    return open.list;
  };
  return {
    /** What the court's limits leave a juror, their other accounts included. @throws Problem `not_found` */
    async limits(name: string, juror: string) {
      const court = await courts.get(name);
      return { court, ...only(await db.run('juror_limits', { court: name, juror })) };
    },
    /**
     * Adds or changes jurors: of the list that counts, or of one that is being uploaded (S2.3). The last chunk of an upload,
     * sent again, changes nothing.
     * @returns how many that list has now
     * @throws Problem `not_found`
     */
    async put(name: string, jurors: Juror[], chunk?: ListChunk): Promise<number> {
      const court = await courts.get(name);
      const list = chunk ? await upload(court, jurors, chunk) : court.list;
      if (!chunk) for (const rows of chunksOf(jurors)) await change(name, list, rows);
      invitations.look();
      return only(await db.run('count_jurors', { court: name, list })).n;
    },
  };
}

/** Records that these persons, or any of the court if they are too many, may be free from now on. */
async function free(tx: Queryable, court: string, found: { person: string }[]): Promise<void> {
  const persons = found.length <= MOST_NAMED ? found.map(({ person }) => person) : null;
  if (found.length > 0) await tx.run('free_jurors', { court, persons });
}

/** The last of several with one id counts, so all of them must be in one chunk. */
function chunksOf(jurors: Juror[]): Juror[][] {
  const unique = [...new Map(jurors.map((juror) => [juror.id, juror])).values()];
  const chunks: Juror[][] = [];
  for (let at = 0; at < unique.length; at += CHUNK) chunks.push(unique.slice(at, at + CHUNK));
  return chunks;
}
