import { setTimeout as sleep } from 'node:timers/promises';
import { WARNINGS } from '../../contract/figures.ts';
import { type Db, only } from '../../db/pool.ts';
import { type Context, perContext } from '../shared/service.ts';
import * as checks from './checks.ts';
import { INVARIANTS, type Invariant, look, newestLines } from './invariants.ts';
import { SCHEDULE_CHECKS } from './schedules.ts';
import { DATABASE_CHECKS, reachTemporal, SCHEMA_CHECK, TEMPORAL_CHECKS } from './system.ts';
import { WAITING_CHECKS } from './waiting.ts';
import { listRunning, WORKFLOW_CHECKS } from './workflows.ts';

export interface DoctorOptions extends Omit<checks.Examined, 'limits' | 'running'> {
  repair: boolean;
  /** The message for an operator when Temporal cannot be used. */
  temporalFailure?(error: unknown): Error;
  limits?: Partial<typeof checks.LIMITS>;
}

const HEAL_STEP_MS = 500;

/** Makes all checks of a live system, and repairs violations if asked to. */
export async function diagnose({
  repair,
  temporalFailure,
  limits,
  ...stores
}: DoctorOptions): Promise<checks.Result[]> {
  let listed: Promise<Set<string>> | undefined;
  const running = () => {
    listed ??= listRunning(stores.client);
    return listed;
  };
  const of: checks.Examined = { ...stores, limits: { ...checks.LIMITS, ...limits }, running };
  const schema = await checks.examine(of, [SCHEMA_CHECK], 0);
  if (schema.some(({ found }) => found.length > 0)) return schema;
  const failure = await reachTemporal(of).then(
    () => undefined,
    (error: unknown) => temporalFailure?.(error) ?? (error as Error),
  );
  const results = await checks.examine(of, [
    ...DATABASE_CHECKS,
    ...INVARIANTS.map(invariantCheck),
    ...WAITING_CHECKS,
    ...(failure ? [unreachable(failure)] : [...TEMPORAL_CHECKS, ...WORKFLOW_CHECKS, ...SCHEDULE_CHECKS]),
  ]);
  if (repair) for (const result of results) Object.assign(result, await repaired(of, result));
  return [...schema, ...results];
}

/** How old what consoles are shown may be: many are open, and ask all the time. */
const KNOWN_MS = 60_000;
const WARNING_CHECKS = [...DATABASE_CHECKS, ...WAITING_CHECKS].filter(({ name }) => WARNINGS.some((w) => w === name));
const lastWarnings = perContext(() => ({ until: 0, found: Promise.resolve<checks.Finding[]>([]) }));

/** What the checks of `WARNINGS` find; they need neither Temporal nor the log, and hold up no claim. */
export function warnings(ctx: Context): Promise<checks.Finding[]> {
  const known = lastWarnings(ctx);
  if (performance.now() < known.until) return known.found;
  known.until = performance.now() + KNOWN_MS;
  const db = { ...ctx.db, ...ctx.db.lists };
  const of = { ...ctx, db, version: '', deep: false, limits: checks.LIMITS, running: () => listRunning(ctx.client) };
  known.found = checks
    .examine(of, WARNING_CHECKS, 0)
    .then((results) => results.map(checks.findingOf).filter((found) => found !== undefined));
  known.found.catch(() => {
    known.until = 0;
  });
  return known.found;
}

const unreachable = ({ message }: Error): checks.Check => ({
  name: 'temporal',
  severity: 'broken',
  rule: 'Temporal can be reached',
  advice: 'Make Temporal answer, then run docket doctor again: what it has to know could not be looked at.',
  look: async () => [{ id: 'Temporal', says: message }],
});

/** Checks an invariant over the newest lines of the log, or over the whole log in steps. */
const invariantCheck = (invariant: Invariant): checks.Check => ({
  ...invariant,
  severity: 'broken',
  async look({ db, deep, limits: { lines: size } }, before) {
    const again = before?.flatMap(({ lines }) => lines ?? []);
    const all = invariant.byLog && deep;
    const parts = again ? distinct(again) : all ? await wholeLog(db, size) : [await newestLines(db, size)];
    const found = new Map<string, checks.Found>();
    for (const lines of parts) for (const one of await look(db, invariant, lines)) found.set(one.id, { ...one, lines });
    return [...found.values()];
  },
  ...(invariant.name === 'counts' && { repair: correctCounts }),
});

/** The lines of the log in parts of this size. */
async function wholeLog(db: Db, size: number): Promise<checks.Lines[]> {
  const { first, last } = only(await db.run('log_range'));
  const all: checks.Lines[] = [];
  for (let from = Math.max(0, first - 1); from < last; from += size)
    all.push({ from, to: Math.min(last, from + size) });
  return all;
}

const distinct = (all: checks.Lines[]): checks.Lines[] => [
  ...new Map(all.map((lines) => [lines.from, lines])).values(),
];

const MOST_CORRECTED = 100_000;

async function correctCounts({ db }: checks.Examined): Promise<string> {
  const wrong = await db.transaction(async (tx) => {
    await tx.run('lock_counts');
    return tx.run('wrong_counts', { limit: MOST_CORRECTED, correct: true });
  });
  return `${wrong.length} counts were corrected.`;
}

/** Repairs a result's violations. @returns the result with those that are left */
async function repaired(of: checks.Examined, result: checks.Result): Promise<checks.Result> {
  const { check, found } = result;
  if (!check.repair || found.length === 0) return result;
  const until = performance.now() + of.limits.healMs;
  let now: checks.Result = { ...result, repaired: await check.repair(of, found) };
  for (;;) {
    now = await checks.lookedAgain(of, now);
    if (now.found.length === 0 || performance.now() > until) return now;
    await sleep(HEAL_STEP_MS);
  }
}
