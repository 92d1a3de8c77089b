import type { CaseItem, LookColumn } from '../../contract/items.ts';
import type { Mover, RowOf } from '../../db/pool.ts';
import { verdictOf } from '../../domain/courts.ts';

/** A case to add. */
export interface NewCase extends Pick<CaseItem, 'id' | 'parties' | 'body' | 'callback' | 'gold'> {
  court: RowOf<'get_court'>;
  deadlineSeconds: number | null;
  /** SHA-256 of the content that was sent, hex. */
  hash: string;
  actor: string;
  /** Of a second look: what it is about, and why it was asked for. */
  look?: Pick<LookColumn, 'of'> & { reason?: string | undefined };
}

/** The cases that rows of an answer name; null or empty: none. */
export const movedCases =
  <Row>(idOf: (row: Row) => string | null) =>
  (rows: Row[]) => ({ kind: 'case' as const, ids: rows.flatMap((row) => idOf(row) || []) });

/** Adds cases. @returns those that were added; ids that exist already are left out */
export const addCases = (db: Mover, cases: NewCase[]) =>
  db.move('add_cases', {
    cases: cases.map(({ court, ...one }, no) => {
      const { votesLeft, priority } = verdictOf(court, {}, 0);
      return { ...one, no, court: court.name, votesLeft, priority };
    }),
  });
