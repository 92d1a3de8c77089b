import type { CaseItem } from '../../contract/items.ts';
import type { Mover } from '../../db/pool.ts';
import { verdictOf } from '../../domain/courts.ts';
import type { Court } from './courts.ts';

/** A case to add. */
export interface NewCase extends Pick<CaseItem, 'id' | 'parties' | 'body' | 'callback' | 'gold'> {
  court: Court;
  deadlineSeconds: number | null;
  /** SHA-256 of the content that was sent, hex. */
  hash: string;
  actor: string;
}

/** Adds cases. @returns those that were added; ids that exist already are left out */
export const addCases = (db: Mover, cases: NewCase[]) =>
  db.move('add_cases', {
    cases: cases.map(({ court, ...one }, no) => {
      const { votesLeft, priority } = verdictOf(court, {}, 0);
      return { ...one, no, court: court.name, votesLeft, priority };
    }),
  });
