import type { Item } from '../contract/items.ts';
import * as cases from '../db/cases.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share } from './batching.ts';

/** What several endpoints do with cases. */
export interface CaseService {
  /** Adds one case, together with those that come at the same time; undefined when the id exists. */
  add(row: cases.NewCaseRow): Promise<Item | undefined>;
  leave(leaving: cases.Leave): ReturnType<typeof cases.leaveCase>;
}

export function caseService({ db }: Runtime): CaseService {
  return {
    add: share<cases.NewCaseRow, Item | undefined>(
      async (rows) => {
        const added = new Map((await cases.addCases(db, rows)).map((item) => [item.id, item]));
        return rows.map((row) => added.get(row.id));
      },
      { keys: (row) => [row.id] },
    ),
    leave: (leaving) => cases.leaveCase(db, leaving),
  };
}
