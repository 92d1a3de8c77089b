import { priorityRange } from '../../contract/common.ts';
import type { Change, Item } from '../../contract/items.ts';
import type { QueueSettings, Rule } from '../../contract/queues.ts';
import type { RowOf } from '../../db/pool.ts';
import { workflowId } from '../../domain/kinds.ts';
import { isItem, isMarked } from '../../runtime/commits.ts';
import { SchemaError } from '../../runtime/schemas/schemas.ts';
import { batchesOf, pagesOf } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/context.ts';

/** Bodies of so many tickets are in memory at once. */
const BATCH = 250;
const MAX_TRIES = 5;
const MAX_LISTED = 100;

/** Tickets that would change their priority: how many, and the first hundred of them. */
export interface PriorityChanges {
  total: number;
  wouldMove: { id: string; before: number; after: number }[];
}

/** What a queue's rules come to for one version of a ticket, as `apply_rules` reads it. */
interface RuledTicket {
  id: string;
  version: number;
  priority: number;
  requires: string[];
  /** The rules that apply, by name or number. */
  rules: (string | number)[];
}

/** A ticket as rules see it: as it was sent, and how often it was handed out. */
const seen = ({ id, body, base_priority, priority, base_requires, requires, attempts, callback }: Item) => ({
  id,
  body,
  priority: base_priority ?? priority,
  requires: base_requires ?? requires,
  attempts,
  callback: callback && ('url' in callback ? 'url' : callback.kind),
});

/** Marked tickets whose evaluation is under way, by their version. */
const underWay = perContext(() => new Map<number, Promise<Item[]>>());

// Priority and skills by a queue's rules (S0.2). The database marks each ticket that has to be evaluated
// (`rules_due_at`) in the transaction that makes it so: added, body changed, given back, reclaimed, transferred. It
// is not handed out until the mark is off, so no claim sees a stale priority.

/** Evaluates the rules of tickets that a commit of this process marked, at once. */
export const follow = (ctx: Context, changes: Change[]): void =>
  begin(ctx, newest(changes.filter(isItem)).filter(isMarked));

/** Evaluates the rules of tickets that a crash left marked. A maintenance chore. */
export async function sweep(ctx: Context): Promise<void> {
  await evaluate(ctx, await ctx.db.run('rules_due', { limit: BATCH }));
}

/**
 * Waits until the rules of rows that a commit moved are evaluated.
 * @returns each item once, as it is then
 */
export async function settled(ctx: Context, rows: Item[]): Promise<Item[]> {
  const evaluations = new Set(rows.map((row) => underWay(ctx).get(row.version)).filter((of) => of !== undefined));
  return newest([...rows, ...(await Promise.all(evaluations)).flat()]);
}

function begin(ctx: Context, rows: Item[]): void {
  if (rows.length === 0) return;
  const running = underWay(ctx);
  const evaluation = evaluate(ctx, rows).finally(() => {
    for (const row of rows) running.delete(row.version);
  });
  for (const row of rows) running.set(row.version, evaluation);
  // it stays marked, and the next maintenance evaluates it; a caller that waits for it gets the error
  evaluation.catch((error: Error) =>
    ctx.log.warn({ err: error.message }, 'rules could not be evaluated, trying again'),
  );
}

/**
 * Evaluates open tickets, marked or not, until each is done under the settings of that moment.
 * @returns them as they are then; those that ended meanwhile are missing
 */
async function evaluate(ctx: Context, rows: Item[]): Promise<Item[]> {
  const done: Item[] = [];
  let left = rows;
  for (let tries = 0; tries < MAX_TRIES && left.length > 0; tries++) {
    const ids = left.map((row) => row.id);
    if (tries > 0) left = await openItems(ctx, ids);
    for (const name of new Set(left.map((row) => row.queue))) {
      const rowsOf = left.filter((row) => row.queue === name);
      done.push(...(await apply(ctx, name, rowsOf)));
    }
    const applied = new Set(done.map((row) => row.id));
    left = left.filter((row) => !applied.has(row.id));
  }
  return done;
}

/** Evaluates open tickets by id, in batches. */
export async function evaluateIds(ctx: Context, ids: string[]): Promise<void> {
  for (const some of batchesOf(ids, BATCH)) await evaluate(ctx, await openItems(ctx, some));
}

const openItems = async ({ db }: Context, ids: string[]): Promise<Item[]> =>
  (await db.run('get_items', { kind: 'ticket', ids })).filter((row) => row.ended_at === null);

/** The open tickets that would change their priority under these settings. */
export async function wouldMove(
  ctx: Context,
  queue: string,
  { rules, escalations }: Pick<QueueSettings, 'rules' | 'escalations'>,
): Promise<PriorityChanges> {
  const moves: PriorityChanges['wouldMove'] = [];
  let total = 0;
  for await (const batch of openTickets(ctx, queue)) {
    const outcomes = await outcomesOf(ctx, rules, batch);
    for (const [n, row] of batch.entries()) {
      const reached = escalations.filter((e) => e.afterSeconds <= row.waited).map((e) => e.priority);
      const after = Math.max(outcomes[n]?.priority ?? row.priority, ...reached);
      if (row.manual_priority || after === row.priority) continue;
      total++;
      if (moves.length < MAX_LISTED) moves.push({ id: row.id, before: row.priority, after });
    }
  }
  return { total, wouldMove: moves };
}

/** All open tickets of a queue, in batches. */
const openTickets = ({ db }: Context, queue: string) =>
  pagesOf<RowOf<'open_tickets'>>((last) => {
    const after = { afterCreatedAt: last?.created_at ?? '-infinity', afterSeq: last?.seq ?? 0 };
    return db.run('open_tickets', { queue, ...after, limit: BATCH });
  }, BATCH);

/** @returns the tickets to which it was applied: those that had not changed since, under the settings of now */
async function apply(ctx: Context, name: string, rows: Item[]): Promise<Item[]> {
  const [queue] = await ctx.db.run('get_queue', { kind: 'ticket', name });
  if (!queue) return [];
  const tickets = await outcomesOf(ctx, queue.rules, rows);
  return ctx.db.move('apply_rules', { queue: name, settingsVersion: queue.settings_version, tickets });
}

async function outcomesOf(ctx: Context, rules: Rule[], rows: Item[]): Promise<RuledTicket[]> {
  const fits = await fitsOf(ctx, rules, rows);
  const numbered = rules.map((rule, r) => ({ rule, r }));
  return rows.map((row, n) => {
    const fitting = numbered.filter(({ r }) => fits[n]?.[r]);
    return outcome(row, fitting);
  });
}

/** Which rule fits which ticket. A rule that cannot be applied to a ticket in time doesn't fit it. */
async function fitsOf(ctx: Context, rules: Rule[], rows: Item[]): Promise<boolean[][]> {
  if (rules.length === 0) return rows.map(() => []);
  try {
    const misfits = await ctx.schemas.check(
      rules.map((rule) => rule.when),
      rows.map(seen),
    );
    return misfits.map((of) => of.map((found) => found.length === 0));
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    if (rows.length > 1) return (await Promise.all(rows.map((row) => fitsOf(ctx, rules, [row])))).flat();
    if (rules.length > 1) return [(await Promise.all(rules.map((rule) => fitsOf(ctx, [rule], rows)))).flat(2)];
    ctx.log.warn({ ticket: rows[0]?.id, err: error.message }, 'a rule could not be applied to a ticket');
    return [[false]];
  }
}

/** In order: the first that sets a priority sets it, every `add` adds; the range is that of priorities. */
function outcome(row: Item, fitting: { rule: Rule; r: number }[]): RuledTicket {
  const { priority, requires } = seen(row);
  const setter = fitting.find(({ rule }) => rule.priority !== undefined)?.rule;
  const sum = fitting.reduce((all, { rule }) => all + (rule.add ?? 0), setter?.priority ?? priority);
  const counted = fitting.filter(({ rule }) => rule === setter || rule.priority === undefined || rule.requires);
  return {
    id: row.id,
    version: row.version,
    priority: Math.min(priorityRange.max, Math.max(priorityRange.min, sum)),
    requires: [...new Set([...requires, ...fitting.flatMap(({ rule }) => rule.requires ?? [])])],
    rules: counted.map(({ rule, r }) => rule.name ?? r),
  };
}

/** Of each item its last state in the list. */
const newest = (rows: Item[]): Item[] => [...new Map(rows.map((row) => [workflowId(row), row])).values()];
