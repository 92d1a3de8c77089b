import type { Juror } from '../contract/courts.ts';
import type { Mover, Queryable } from './pool.ts';

// Jurors who become free, and the invitations that follow (S2.1); see db/functions/invitations.sql.

/** More persons than that count as "any juror of the court". */
const MOST_NAMED = 500;

/** Keeps that these persons may be free from now on, or, with too many, that anyone of the court may be. */
const free = (db: Queryable, court: string, persons: string[] | null) =>
  db.run('free_jurors', [court, persons && persons.length <= MOST_NAMED ? persons : null]);

/** To be called where a court's settings change. */
export const freeAnyJuror = (db: Queryable, court: string) => free(db, court, null);

/**
 * Runs `work`, which puts these rows of the court's list in place, and keeps whoever may be invited only since then.
 * @param list the list that counts
 */
export async function freeByRows(
  db: Queryable,
  court: string,
  list: number,
  jurors: Juror[],
  work: () => Promise<unknown>,
): Promise<void> {
  type Row = { person: string };
  const found = await db.run<Row>('newly_invitable', [court, JSON.stringify(jurors), list, MOST_NAMED + 1]);
  await work();
  if (found.length > 0) await free(db, court, found.map(personOf));
}

/** Keeps the persons whom a new list has, and the one before had not. */
export async function freeByList(db: Queryable, court: string, before: number, now: number): Promise<void> {
  type Row = { person: string };
  const found = await db.run<Row>('list_difference', [court, before, now, MOST_NAMED + 1]);
  if (found.length > 0) await free(db, court, found.map(personOf));
}

const personOf = ({ person }: { person: string }) => person;

export const freedJurors = (db: Queryable, limit: number) => db.run<{ seq: number }>('freed_jurors', [limit]);

/** @returns the case to which the juror was invited; null: none wants them; '': it is locked by others, try again */
export async function inviteFreed(db: Mover, seq: number, token: string): Promise<string | null> {
  type Invited = { id: string | null };
  const moved = ([row]: Invited[]) => ({ kind: 'case' as const, ids: row?.id ? [row.id] : [] });
  const [row] = await db.move<Invited>('invite_freed', [seq, token], { moved });
  return row?.id ?? null;
}

/** Takes over the courts in which any juror may be free; no other process gets them for half a minute. */
export const takeFreedCourts = (db: Queryable) => db.run<{ court: string; seq: number }>('take_freed_courts');

export const freedCourtDone = (db: Queryable, court: string, seq: number) => db.run('freed_court_done', [court, seq]);

/** A place in the order in which a court's cases are invited for. */
export interface InvitingCase {
  id: string;
  /** A number too large for a double. */
  rank: string;
  seq: number;
}

/** Cases that lack jurors, after the last one before. */
export const invitingCases = (db: Queryable, court: string, after: InvitingCase | undefined, limit: number) =>
  db.run<InvitingCase>('inviting_cases', [court, after?.rank, after?.seq, limit]);
