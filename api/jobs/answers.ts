import type { Item } from '../../db/items.ts';
import type { Problem } from '../problems.ts';

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

export const failed = (error: string, id: string | null = null): JobAnswerBody => ({
  ...done(),
  success: false,
  error,
  id,
});

/** A job as it is handed out. */
export const handed = (item: Item) => ({
  id: item.id,
  value: item.body,
  token: item.lease_id,
  topic: item.queue,
  attempt: item.attempts,
});

/** What could be understood is answered with 200, whatever came of it; what could not keeps its status. */
export function problemAnswer(problem: Problem) {
  return {
    status: problem.status === 422 ? 200 : problem.status,
    body: { ...failed(problem.message), code: problem.code },
  };
}
