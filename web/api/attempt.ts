import { useState } from 'preact/hooks';
import { type Problem, problemOf } from './problem.ts';

export interface Attempt {
  busy: boolean;
  /** Why the last attempt failed; null after one that succeeded. */
  problem: Problem | null;
  /** Does something that may fail, such as a call. */
  attempt: (work: () => Promise<unknown>) => Promise<void>;
  /** Clears the reason of the last failure. */
  forget: () => void;
}

/** For what someone does with a button: whether it is under way, and why it failed. */
export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, attempt, forget: () => setProblem(null) };
}
