import { setTimeout as sleep } from 'node:timers/promises';

/** `broken`: something that must always hold does not. `warning`: someone should look at it. `info`: to be read with the rest. */
type Severity = 'broken' | 'warning' | 'info';

/** Part of the log, by the numbers of its lines: behind `from`, up to `to`. */
export interface Lines {
  from: number;
  to: number;
}

/** One thing that a check is about. */
export interface Found {
  /** What it is, the same in each look. */
  id: string;
  /** What is wrong with it. */
  says?: string | null;
  /** For how many it stands; left out: for one. */
  n?: number;
  /** The part of the log in which it was found. */
  lines?: Lines;
}

export interface Check {
  name: string;
  severity: Severity;
  /** What is so where nothing is found, in a few words. */
  rule: string;
  /** One sentence: what to do. */
  advice: string | ((found: Found[]) => string);
  /**
   * @param before what the look before has found: only that is asked about
   * @returns what breaks the rule
   */
  look(before?: Found[]): Promise<Found[]>;
  /**
   * Puts right what was found. Safe to repeat, and while the system runs.
   * @returns what was done, as a sentence
   */
  repair?(found: Found[]): Promise<string>;
}

/** What a check has come to. */
export interface Result {
  check: Check;
  found: Found[];
  /** Why it could not be looked at. */
  failed?: string;
  /** What was done about it. */
  repaired?: string;
}

/** What programs read of it: `docket doctor --json`. */
export interface Finding {
  check: string;
  severity: Severity;
  count: number;
  /** The first few, with what is wrong with each. */
  examples: string[];
  advice: string;
  repaired?: string;
}

const MOST_EXAMPLES = 5;
/** SQLSTATE of a statement that took too long. */
const CANCELLED = '57014';
const TOO_LONG = 'it took too long';

/**
 * Makes all checks, one after the other. What is found counts only if it is still so `againMs` later: things are under way in a
 * system that runs.
 */
export async function examine(checks: Check[], againMs: number): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push(await looked({ check, found: [] }));
  const suspected = results.filter(({ check, found }) => found.length > 0 && check.severity !== 'info');
  if (suspected.length > 0) await sleep(againMs);
  for (const result of suspected) Object.assign(result, await lookedAgain(result));
  return results;
}

/** The same result with what is still so. */
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

/** What is to be said about a result; undefined: nothing. */
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
