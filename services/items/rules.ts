import { setTimeout as sleep } from 'node:timers/promises';
import { isWorkflow, priorityRange } from '../../contract/common.ts';
import type { Change, Item } from '../../contract/items.ts';
import type { QueueSettings, Rule, TriedTicket } from '../../contract/queues.ts';
import type { RowOf } from '../../db/pool.ts';
import { workflowId } from '../../domain/kinds.ts';
import { isHeldBack, isItem, isMarked } from '../../runtime/commits.ts';
import { SchemaError } from '../../runtime/schemas/schemas.ts';
import { batchesOf, pagesOf } from '../shared/batching.ts';
import { type Context, invalid, perContext } from '../shared/service.ts';
import { ownerOf } from './forms.ts';

/** Bodies of so many tickets are in memory at once. */
const BATCH = 250;
const MAX_TRIES = 5;
/** A caller waits for rules as long as this; the ticket is not handed out until they are evaluated. */
const WAIT_MS = 5_000;
/** Seconds until a ticket whose rules ran out of time is tried again. */
const AGAIN_SECONDS = 600;
const MAX_LISTED = 100;

/** What rules would change of open tickets: how many change, the first hundred of them, and what is odd about the rules. */
export interface Forecast {
  total: number;
  wouldMove: { id: string; before: number; after: number; requires?: { before: string[]; after: string[] } }[];
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
const seen = (row: Item) => ({
  id: row.id,
  body: row.body,
  subject: row.subject,
  category: row.category,
  priority: row.base_priority ?? row.priority,
  requires: row.base_requires ?? row.requires,
  attempts: row.attempts,
  callback: callbackKind(row),
});

const callbackKind = ({ callback }: Item) =>
  callback && ('url' in callback ? (isWorkflow(callback.url) ? 'temporal' : 'url') : callback.kind);

const FIELDS = ['id', 'body', 'subject', 'category', 'priority', 'requires', 'attempts', 'callback'];

/** Marked tickets whose evaluation is under way, by their version. */
const underWay = perContext(() => new Map<number, Promise<Item[]>>());

// Priority and skills by a queue's rules (S0.2). The database marks each ticket that has to be evaluated
// (`rules_due_at`) in the transaction that makes it so: added, body changed, given back, reclaimed, transferred. It
// is not handed out until the mark is off, so no claim sees a stale priority. Where rules run out of time the mark stays, at
// the time at which they are tried again: a ticket that nobody could rule on might need a skill that no one has asked for.

/** Evaluates the rules of tickets that a commit of this process marked, at once. */
export const follow = (ctx: Context, changes: Change[]): void =>
  begin(
    ctx,
    newest(changes.filter(isItem)).filter((row) => isMarked(row) && !isHeldBack(row)),
  );

/** Evaluates the rules of tickets that a crash left marked. A maintenance chore. */
export async function sweep(ctx: Context): Promise<void> {
  const rows = await ctx.db.run('rules_due', { limit: BATCH });
  await evaluate(
    ctx,
    rows.filter((row) => !underWay(ctx).has(row.version)),
  );
}

/**
 * Waits until the rules of rows that a commit moved are evaluated, five seconds at most.
 * @returns each item once, as it is then
 */
export async function settled<Row extends Change>(ctx: Context, rows: Row[]): Promise<(Row | Item)[]> {
  const evaluations = new Set(rows.map((row) => underWay(ctx).get(row.version)).filter((of) => of !== undefined));
  if (evaluations.size === 0) return newest(rows);
  const over = new AbortController();
  const late = sleep(WAIT_MS, [], { signal: over.signal }).catch(() => []);
  const done = await Promise.race([Promise.all(evaluations), late]).finally(() => over.abort());
  return newest<Row | Item>([...rows, ...done.flat()]);
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
    // a batch's rows do not say what rules look at
    if (tries > 0 || left.some((row) => row.body === undefined)) left = await openItems(ctx, ids);
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

/** The open tickets that these settings would move or ask other skills for. */
export async function wouldMove(
  ctx: Context,
  queue: string,
  { rules, escalations, categoryFrom }: Pick<QueueSettings, 'rules' | 'escalations' | 'categoryFrom'>,
): Promise<Forecast> {
  const moves: Forecast['wouldMove'] = [];
  let total = 0;
  for await (const batch of openTickets(ctx, queue, categoryFrom)) {
    const tried = batch.map((row) => ({ ...row, category: row.tried_category }));
    const outcomes = await outcomesOf(ctx, `dry run of ${queue}`, rules, tried);
    for (const [n, row] of batch.entries()) {
      const reached = escalations.filter((e) => e.afterSeconds <= row.waited).map((e) => e.priority);
      const ruled = outcomes[n];
      const priority = ruled === undefined || ruled instanceof SchemaError ? row.priority : ruled.priority;
      const after = row.manual_priority ? row.priority : Math.max(priority, ...reached);
      const skills = row.manual_requires || !ruled || ruled instanceof SchemaError ? row.requires : ruled.requires;
      const isSame = skills.length === row.requires.length && skills.every((skill) => row.requires.includes(skill));
      if (isSame && after === row.priority) continue;
      total++;
      const requires = isSame ? {} : { requires: { before: row.requires, after: skills } };
      if (moves.length < MAX_LISTED) moves.push({ id: row.id, before: row.priority, after, ...requires });
    }
  }
  return { total, wouldMove: moves };
}

/** What rules make of a ticket as it is sent. @throws Problem 422 where they cannot be evaluated in time */
export async function tryOn(
  ctx: Context,
  queue: string,
  { rules, categoryFrom }: Pick<QueueSettings, 'rules' | 'categoryFrom'>,
  ticket: TriedTicket,
) {
  const [from] = await ctx.db.run('category_of', { body: ticket.body, categoryFrom });
  const category = ticket.category ?? from?.category;
  const row = { ...ticket, category, attempts: 0, callback: null } as Partial<Item> as Item;
  const [ruled] = await outcomesOf(ctx, `dry run of ${queue}`, rules, [row]);
  if (!ruled || ruled instanceof SchemaError)
    throw invalid('ticket', `cannot be judged by the rules: ${ruled?.message}`);
  return { priority: ruled.priority, requires: ruled.requires, rules: ruled.rules };
}

/** What is probably meant otherwise: a condition is over a ticket, not over its body. */
export const warningsOf = (rules: Rule[]): string[] =>
  rules.flatMap(({ name, when }, n) => {
    const unknown = new Set(fieldsOf(when).filter((field) => !FIELDS.includes(field)));
    return [...unknown].map(
      (field) => `rule ${name ?? n} looks at ${field}, which tickets do not have: they have ${FIELDS.join(', ')}`,
    );
  });

/** Keywords of JSON Schema with conditions over the same value. */
const SAME_VALUE = ['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf'] as const;

type Condition = { [keyword in (typeof SAME_VALUE)[number]]?: Condition | Condition[] } & {
  required?: string[];
  properties?: object;
  $ref?: string;
  $defs?: Record<string, Condition>;
};

/** The fields that a condition names. @param seen keeps one that refers to itself from going round */
function fieldsOf(when: Condition, root = when, seen = new Set<Condition>()): string[] {
  if (seen.has(when)) return [];
  seen.add(when);
  const { required = [], properties = {}, $ref } = when;
  const referred = root.$defs?.[$ref?.replace('#/$defs/', '') ?? ''] ?? [];
  const others = [referred, ...SAME_VALUE.map((keyword) => when[keyword] ?? [])].flat();
  return [...required, ...Object.keys(properties), ...others.flatMap((other) => fieldsOf(other, root, seen))];
}

const openTickets = ({ db }: Context, queue: string, categoryFrom: string | null) =>
  pagesOf<RowOf<'open_tickets'>>((last) => {
    const after = { afterCreatedAt: last?.created_at ?? '-infinity', afterSeq: last?.seq ?? 0 };
    return db.run('open_tickets', { queue, categoryFrom, ...after, limit: BATCH });
  }, BATCH);

/** @returns the tickets to which it was applied, or that are held back: those that had not changed since, under the settings of now */
async function apply(ctx: Context, name: string, rows: Item[]): Promise<Item[]> {
  const [queue] = await ctx.db.run('get_queue', { kind: 'ticket', name });
  if (!queue) return [];
  const outcomes = await outcomesOf(ctx, ownerOf(queue), queue.rules, rows);
  const under = { queue: name, settingsVersion: queue.settings_version };
  const ruled = outcomes.filter((outcome) => !(outcome instanceof SchemaError));
  const applied = ruled.length > 0 ? await ctx.db.move('apply_rules', { ...under, tickets: ruled }) : [];
  const failed = rows.flatMap(({ id, version }, n) => {
    const outcome = outcomes[n];
    if (!(outcome instanceof SchemaError)) return [];
    const { message, retryAfter = AGAIN_SECONDS } = outcome;
    return [{ id, version, error: `its rules cannot be evaluated: ${message}`, seconds: Math.max(60, retryAfter) }];
  });
  if (failed.length === 0) return applied;
  ctx.log.warn({ queue: name, tickets: failed.length, err: failed[0]?.error }, 'tickets are held back');
  return [...applied, ...(await ctx.db.move('hold_back', { ...under, tickets: failed }))];
}

async function outcomesOf(
  ctx: Context,
  owner: string,
  rules: Rule[],
  rows: Item[],
): Promise<(RuledTicket | SchemaError)[]> {
  const fits = await fitsOf(ctx, owner, rules, rows);
  const numbered = rules.map((rule, r) => ({ rule, r }));
  return rows.map((row, n) => {
    const fit = fits[n] ?? [];
    if (fit instanceof SchemaError) return fit;
    const fitting = numbered.filter(({ r }) => fit[r]);
    return outcome(row, fitting);
  });
}

/** For each ticket which rules fit it, or why that cannot be said: in time they are not evaluated. */
async function fitsOf(ctx: Context, owner: string, rules: Rule[], rows: Item[]): Promise<(boolean[] | SchemaError)[]> {
  if (rules.length === 0) return rows.map(() => []);
  try {
    const misfits = await ctx.schemas.check(
      owner,
      rules.map((rule) => rule.when),
      rows.map(seen),
    );
    return misfits.map((of) => of.map((found) => found.length === 0));
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    if (rows.length === 1 || error.retryAfter !== undefined) return rows.map(() => error);
    return (await Promise.all(rows.map((row) => fitsOf(ctx, owner, rules, [row])))).flat();
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
const newest = <Row extends Change>(rows: Row[]): Row[] => [
  ...new Map(rows.map((row) => [workflowId(row), row])).values(),
];
