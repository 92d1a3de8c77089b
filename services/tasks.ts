import { type Completed, type Completion, completeTasks, nextTasks, type Pull, type Pulled } from '../db/dispatches.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share } from './batching.ts';

/** Few, because pulls and completions of a group are at the same occurrences, and each waits for the other's statement. */
const MOST_TOGETHER = 32;

/** What clients of tasks do; calls that come at the same time share a statement. */
export interface TaskService {
  pull(pull: Pull): Promise<Pulled>;
  complete(completion: Completion): Promise<Completed>;
}

export function taskService({ db }: Runtime): TaskService {
  return {
    pull: share<Pull, Pulled>(
      async (pulls) => {
        const rows = await nextTasks(db, pulls);
        const answers = new Map(rows.flatMap((row) => (row.outcome === 'advanced' ? [] : [[row.person, row]])));
        return pulls.map((pull) => answerOf(answers, pull.person));
      },
      { keys: (pull) => [pull.person], max: MOST_TOGETHER },
    ),
    complete: share<Completion, Completed>(
      async (all) => {
        const rows = await completeTasks(db, all);
        const answers = new Map(rows.flatMap((row) => (row.outcome === 'advanced' ? [] : [[row.token, row]])));
        return all.map((completion) => answerOf(answers, completion.token));
      },
      { keys: (completion) => [completion.token], max: MOST_TOGETHER },
    ),
  };
}

function answerOf<A>(answers: Map<string, A>, key: string): A {
  const answer = answers.get(key);
  if (!answer) throw new Error(`no answer for ${key}`);
  return answer;
}
