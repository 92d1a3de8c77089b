import type { CaseItem } from '../../contract/items.ts';
import type { Mover } from '../../db/pool.ts';
import { verdictOf } from '../../domain/courts.ts';
import type { Court } from './courts.ts';

/** A case that is to be added. */
export interface NewCase extends Pick<CaseItem, 'id' | 'parties' | 'body' | 'callback' | 'gold'> {
  court: Court;
  deadlineSeconds: number | null;
  /** SHA-256 of what was sent, hex. */
  hash: string;
  actor: string;
}

/** Ids that exist already are left out of the answer. */
export const addCases = (db: Mover, cases: NewCase[]) =>
  db.move('add_cases', {
    cases: cases.map(({ court, ...one }, no) => {
      const { votesLeft, priority } = verdictOf(court, {}, 0);
      return { ...one, no, court: court.name, votesLeft, priority };
    }),
  });
