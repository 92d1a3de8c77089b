import { setTimeout as sleep } from 'node:timers/promises';

/** `broken`: a rule that must always hold is violated; `warning`: an operator should act; `info`: facts. */
type Severity = 'broken' | 'warning' | 'info';

/** A range of the log by line numbers: after `from`, up to and including `to`. */
export interface Lines {
  from: number;
  to: number;
}

/** One violation of a check's rule. */
export interface Found {
  /** Identifies the thing that violates the rule, the same each time. */
  id: string;
  /** Describes the violation. */
  says?: string | null;
  /** Number of violations that it stands for; default 1. */
  n?: number;
  /** The range of the log in which it was found. */
  lines?: Lines;
}

export interface Check {
  name: string;
  severity: Severity;
  /** The rule that holds where nothing is found, in a few words. */
  rule: string;
  /** One sentence that tells an operator what to do. */
  advice: string | ((found: Found[]) => string);
  /**
   * @param before violations that an earlier look found; only these are examined again
   * @returns the violations
   */
  look(before?: Found[]): Promise<Found[]>;
  /**
   * Repairs violations. Safe to repeat, and while the system runs.
   * @returns a sentence that says what was done
   */
  repair?(found: Found[]): Promise<string>;
}

/** The result of a check. */
export interface Result {
  check: Check;
  found: Found[];
  /** Why the check could not be made. */
  failed?: string;
  /** What `repair` did. */
  repaired?: string;
}

/** A result as `docket doctor --json` prints it. */
export interface Finding {
  check: string;
  severity: Severity;
  count: number;
  /** The first few violations. */
  examples: string[];
  advice: string;
  repaired?: string;
}

const MOST_EXAMPLES = 5;
/** SQLSTATE of a statement that took too long. */
const CANCELLED = '57014';
const TOO_LONG = 'it took too long';

/**
 * Makes all checks, one after the other. A violation counts only if it is still there `againMs` later, because a
 * running system always has work in progress.
 */
export async function examine(checks: Check[], againMs: number): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push(await looked({ check, found: [] }));
  const suspected = results.filter(({ check, found }) => found.length > 0 && check.severity !== 'info');
  if (suspected.length > 0) await sleep(againMs);
  for (const result of suspected) Object.assign(result, await lookedAgain(result));
  return results;
}

/** The same result with the violations that are still there. */
export async function lookedAgain(result: Result): Promise<Result> {
  const before = new Set(result.found.map(({ id }) => id));
  const again = await looked(result, result.found);
  return { ...again, found: again.found.filter(({ id }) => before.has(id)) };
}

async function looked(result: Result, before?: Found[]): Promise<Result> {
  try {
    return { ...result, found: await result.check.look(before) };
  } catch (error) {
    if ((error as { code?: string }).code !== CANCELLED) throw error;
    return { ...result, found: [], failed: TOO_LONG };
  }
}

/** A result as programs read it; undefined when there is nothing to report. */
export function findingOf({ check, found, failed, repaired }: Result): Finding | undefined {
  const { name, severity, advice } = check;
  if (failed)
    return {
      ...{ check: name, severity: 'warning', count: 0, examples: [] },
      advice: `This could not be looked at (${failed}): try again while the database has less to do.`,
    };
  if (found.length === 0 && !repaired) return undefined;
  return {
    ...{ check: name, severity },
    count: found.reduce((sum, { n = 1 }) => sum + n, 0),
    examples: found.slice(0, MOST_EXAMPLES).map(({ id, says }) => (says ? `${id}: ${says}` : id)),
    advice: typeof advice === 'string' ? advice : advice(found),
    ...(repaired && { repaired }),
  };
}

/** Runs `work` for each of `all`, a few at a time. */
export async function eachOf<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  const next = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
