import {
  type Completed,
  type Completion,
  completeTasks,
  nextTasks,
  type Pull,
  type Pulled,
} from '../../db/dispatches.ts';
import type { Engine } from '../../link/engine.ts';
import { share } from '../sharing.ts';

/** Few, because pulls and completions of a group are at the same occurrences, and each waits for the other's statement. */
const MOST_TOGETHER = 32;

/** What clients of tasks do; calls that come at the same time share a statement. */
export interface ClientService {
  pull(pull: Pull): Promise<Pulled>;
  complete(completion: Completion): Promise<Completed>;
}

export function clientService({ db, after }: Engine): ClientService {
  return {
    pull: share<Pull, Pulled>(
      async (pulls) => {
        const rows = await nextTasks(db, pulls);
        after(rows.filter((row) => row.outcome === 'dispatched'));
        return inOrder(
          pulls,
          (p) => p.person,
          rows,
          (r) => r.person,
        );
      },
      { keys: (p) => [p.person], max: MOST_TOGETHER },
    ),
    complete: share<Completion, Completed>(
      async (all) => {
        const rows = await completeTasks(db, all);
        after(rows.filter((row) => row.outcome === 'completed'));
        return inOrder(
          all,
          (c) => c.token,
          rows,
          (r) => r.token,
        );
      },
      { keys: (c) => [c.token], max: MOST_TOGETHER },
    ),
  };
}

function inOrder<In, Out>(
  inputs: In[],
  keyOf: (input: In) => string,
  rows: Out[],
  nameOf: (row: Out) => string,
): Out[] {
  const found = new Map(rows.map((row) => [nameOf(row), row]));
  return inputs.map((input) => {
    const row = found.get(keyOf(input));
    if (!row) throw new Error(`no answer for ${keyOf(input)}`);
    return row;
  });
}
