import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type Db, only } from '../../db/pool.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import { type Check, examine, type Found, type Lines, lookedAgain, type Result } from './checks.ts';
import { INVARIANTS, type Invariant, newestLines } from './invariants.ts';
import { scheduleChecks } from './schedules.ts';
import { databaseChecks, reachTemporal, schemaCheck, temporalChecks } from './system.ts';
import { waitingChecks } from './waiting.ts';
import { workflowChecks } from './workflows.ts';

/** Thresholds. */
interface Limits {
  /** Delay after which violations are examined again. */
  againMs: number;
  /** How long a repair may take to have effect. */
  healMs: number;
  /** Log lines that are read, with `deep` in each step. */
  lines: number;
  overdueSeconds: number;
  unpublishedSeconds: number;
  choreSeconds: number;
  attempts: number;
  overSeconds: number;
}

const LIMITS: Limits = {
  againMs: 5_000,
  healMs: 20_000,
  lines: 100_000,
  overdueSeconds: 60,
  unpublishedSeconds: 60,
  choreSeconds: 120,
  attempts: 3,
  overSeconds: 60,
};

export interface DoctorOptions {
  db: Db;
  client: Client;
  /** The version of this program. */
  version: string;
  secrets: Secrets;
  /** Whether to read the whole log instead of its newest lines. */
  deep: boolean;
  /** Whether to repair violations. */
  repair: boolean;
  /** The message for an operator when Temporal cannot be used. */
  temporalFailure?(error: unknown): Error;
  limits?: Partial<Limits>;
}

const HEAL_STEP_MS = 500;

/** Makes all checks of a live system, and repairs violations if asked to. */
export async function diagnose(o: DoctorOptions): Promise<Result[]> {
  const limits = { ...LIMITS, ...o.limits };
  const schema = await examine([schemaCheck(o)], 0);
  if (schema.some(({ found }) => found.length > 0)) return schema;
  const results = [...schema, ...(await examine(await checksOf(o, limits), limits.againMs))];
  if (!o.repair) return results;
  const healed: Result[] = [];
  for (const result of results) healed.push(await repaired(result, limits.healMs));
  return healed;
}

async function checksOf(o: DoctorOptions, limits: Limits): Promise<Check[]> {
  const own = [
    ...databaseChecks(o),
    ...INVARIANTS.map((invariant) => invariantCheck(o, invariant, limits.lines)),
    ...waitingChecks({ ...o, ...limits }),
  ];
  const failure = await reachTemporal(o.client).then(
    () => undefined,
    (error: unknown) => o.temporalFailure?.(error) ?? (error as Error),
  );
  if (failure) return [...own, unreachable(failure)];
  return [...own, ...temporalChecks(o), ...workflowChecks({ ...o, ...limits }), ...scheduleChecks(o)];
}

const unreachable = ({ message }: Error): Check => ({
  name: 'temporal',
  severity: 'broken',
  rule: 'Temporal can be reached',
  advice: 'Make Temporal answer, then run docket doctor again: what it has to know could not be looked at.',
  look: async () => [{ id: 'Temporal', says: message }],
});

/** Checks an invariant over the newest lines of the log, or over the whole log in steps. */
function invariantCheck({ db, deep }: DoctorOptions, { look, byLog, ...invariant }: Invariant, size: number): Check {
  const parts = async (): Promise<Lines[]> => {
    if (!byLog || !deep) return [await newestLines(db, size)];
    const { first, last } = only(await db.run('log_range'));
    const all: Lines[] = [];
    for (let from = Math.max(0, first - 1); from < last; from += size)
      all.push({ from, to: Math.min(last, from + size) });
    return all;
  };
  return {
    ...invariant,
    severity: 'broken',
    async look(before) {
      const again = before?.flatMap(({ lines }) => lines ?? []);
      const found = new Map<string, Found>();
      for (const lines of again ? distinct(again) : await parts())
        for (const one of await look(db, lines)) found.set(one.id, { ...one, lines });
      return [...found.values()];
    },
    ...(invariant.name === 'counts' && { repair: () => correctCounts(db) }),
  };
}

const distinct = (all: Lines[]): Lines[] => [...new Map(all.map((lines) => [lines.from, lines])).values()];

const MOST_CORRECTED = 100_000;

async function correctCounts(db: Db): Promise<string> {
  const wrong = await db.transaction(async (tx) => {
    await tx.run('lock_counts');
    return tx.run('wrong_counts', { limit: MOST_CORRECTED, correct: true });
  });
  return `${wrong.length} counts were corrected.`;
}

/** Repairs a result's violations. @returns the result with those that are left */
async function repaired(result: Result, healMs: number): Promise<Result> {
  const { check, found } = result;
  if (!check.repair || found.length === 0) return result;
  const until = performance.now() + healMs;
  let now: Result = { ...result, repaired: await check.repair(found) };
  for (;;) {
    now = await lookedAgain(now);
    if (now.found.length === 0 || performance.now() > until) return now;
    await sleep(HEAL_STEP_MS);
  }
}
