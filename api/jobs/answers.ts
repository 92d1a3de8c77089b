import type { ProblemCode } from '../../contract/problems.ts';
import type { Item } from '../../db/items.ts';
import type { Problem } from '../../services/problems.ts';

/** The article's answer: these four fields always, more where a command has more to say (S3.1). */
export interface JobAnswerBody {
  success: boolean;
  error: string | null;
  id: string | null;
  value: unknown;
  [more: string]: unknown;
}

export const done = (more: Partial<JobAnswerBody> = {}): JobAnswerBody => ({
  success: true,
  error: null,
  id: null,
  value: null,
  ...more,
});

export const failed = (error: string, id: string | null = null, code?: ProblemCode): JobAnswerBody => ({
  ...done(),
  success: false,
  error,
  id,
  ...(code && { code }),
});

export const unknownJob = (id: string) => failed(`there is no job ${id}`, id, 'not_found');

/** One line of a batch's results. */
export const resultOf = ({ success, error, id, code }: JobAnswerBody) => ({
  success,
  error,
  id,
  ...(code ? { code } : {}),
});

/** A job as it is handed out. */
export const handed = (item: Item) => ({
  id: item.id,
  value: item.body,
  token: item.lease_id,
  topic: item.queue,
  attempt: item.attempts,
  TTR: item.lease_seconds,
});

/** What could be understood is answered with 200, whatever came of it; what could not keeps its status. */
export function problemAnswer(problem: Problem) {
  return {
    status: problem.status === 422 ? 200 : problem.status,
    body: { ...failed(problem.message), code: problem.code },
  };
}
