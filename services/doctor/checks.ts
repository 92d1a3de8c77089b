import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Db } from '../../db/pool.ts';
import type { Secrets } from '../../runtime/secrets.ts';

/** Thresholds. */
export const LIMITS = {
  /** Delay after which violations are examined again. */
  againMs: 5_000,
  /** How long a repair may take to have effect. */
  healMs: 20_000,
  /** Log lines that are read, with `deep` in each step. */
  lines: 100_000,
  /** How long an item may be due. */
  overdueSeconds: 60,
  /** How long a line of the log may wait to be published. */
  unpublishedSeconds: 60,
  /** How long a chore of maintenance may wait. */
  choreSeconds: 120,
  /** Attempts after which a receiver counts as unresponsive. */
  attempts: 3,
  /** Age of a state in PostgreSQL after which Temporal must have it too. */
  overSeconds: 60,
};

/** The system that is examined. */
export interface Examined {
  db: Db;
  client: Client;
  version: string;
  secrets: Secrets;
  /** Whether to read the whole log instead of its newest lines, and every item. */
  deep: boolean;
  limits: typeof LIMITS;
  /** The ids of Docket's running workflows, listed by the first check that needs them. */
  running(): Promise<Set<string>>;
}

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
  /** What to do about it, where that differs from the check's advice. */
  advice?: string;
}

export interface Check {
  name: string;
  severity: Severity;
  /** The rule that holds where nothing is found, in a few words. */
  rule: string;
  /** One sentence that tells an operator what to do. */
  advice: string;
  /** @param before violations that an earlier look found; only these are examined again @returns the violations */
  look(of: Examined, before?: Found[]): Promise<Found[]>;
  /** Repairs violations. Safe to repeat, and while the system runs. @returns a sentence that says what was done */
  repair?(of: Examined, found: Found[]): Promise<string>;
}

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
export async function examine(of: Examined, checks: readonly Check[], againMs = of.limits.againMs): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push(await looked(of, { check, found: [] }));
  const suspected = results.filter(({ check, found }) => found.length > 0 && check.severity !== 'info');
  if (suspected.length > 0) await sleep(againMs);
  for (const result of suspected) Object.assign(result, await lookedAgain(of, result));
  return results;
}

/** The same result with the violations that are still there. */
export async function lookedAgain(of: Examined, result: Result): Promise<Result> {
  const before = new Set(result.found.map(({ id }) => id));
  const again = await looked(of, result, result.found);
  return { ...again, found: again.found.filter(({ id }) => before.has(id)) };
}

async function looked(of: Examined, result: Result, before?: Found[]): Promise<Result> {
  try {
    return { ...result, found: await result.check.look(of, before) };
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
    advice: found.find((one) => one.advice)?.advice ?? advice,
    ...(repaired && { repaired }),
  };
}

const TIMEOUT_MS = 10_000;

/** A call to Temporal with a time limit. */
export const asked = <T>({ client }: Pick<Examined, 'client'>, call: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + TIMEOUT_MS, call);

/** Runs `work` for each of `all`, a few at a time. */
export async function eachOf<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  const next = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
