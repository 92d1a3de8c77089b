import { isDeepStrictEqual } from 'node:util';
import { NewName } from '../../contract/names.ts';
import { NO_DESK, NO_GOLD, NO_LOOKS, type QueueSettings, type TriedTicket } from '../../contract/queues.ts';
import type { Kind } from '../../contract/snapshot.ts';
import { NO_MODELS } from '../../contract/suggestions.ts';
import { only, type RowOf } from '../../db/pool.ts';
import type { QueueRow } from '../../db/statements.ts';
import { type Context, found, invalid, Problem, perContext } from '../shared/service.ts';
import { checkSettings, formWarnings } from './forms.ts';
import { tickThrough } from './items.ts';
import * as rules from './rules.ts';
import { watching } from './watching.ts';

/** The kinds whose queues have no settings elsewhere (courts and executors do), and the words of their callers. */
const NOUNS = {
  ticket: { queue: 'queue', content: 'tickets' },
  job: { queue: 'topic', content: 'jobs or schedules' },
};
type Named = keyof typeof NOUNS;

const missing = (kind: Named, name: string) => `there is no ${NOUNS[kind].queue} ${name}`;

/** Queues that a process remembers. */
const MOST_KNOWN = 10_000;
/** Items whose rank, deadline and wake time one statement computes again. */
const REFRESH_BATCH = 2_000;

/** The queues that this process has made sure of, and those whose statement is under way, as `kind/name`. */
const ensured = perContext(() => ({ known: new Set<string>(), underWay: new Map<string, Promise<void>>() }));

export const get = async ({ db }: Context, kind: Kind, name: string): Promise<QueueRow | undefined> =>
  (await db.run('get_queue', { kind, name }))[0];

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, kind: Named, name: string): Promise<QueueRow> =>
  found(await db.run('get_queue', { kind, name }), missing(kind, name));

/** Newest first, those whose number in the list is below `before`. */
export const list = ({ db }: Context, kind: Kind, before: number | undefined, limit: number) =>
  db.lists.run('list_queues', { kind, before, limit });

/** Whether this process has made sure of the queue already. */
export const isKnown = (ctx: Context, kind: Kind, name: string) => ensured(ctx).known.has(`${kind}/${name}`);

/** Checks that these queues exist; known ones cost nothing. @throws Problem `not_found` */
export async function checkThere(ctx: Context, kind: Named, names: string[]): Promise<void> {
  for (const name of names)
    if (!isKnown(ctx, kind, name)) {
      await find(ctx, kind, name);
      remember(ctx, kind, name);
    }
}

function remember(ctx: Context, kind: Kind, name: string): void {
  const { known } = ensured(ctx);
  // callers choose the names; forgetting costs one statement a queue
  if (known.size >= MOST_KNOWN) known.clear();
  known.add(`${kind}/${name}`);
}

/**
 * Makes sure that a queue exists; known ones cost nothing.
 * @throws Problem 422 for a new name that is the server's, or has a `*`
 */
export function ensure(ctx: Context, kind: Kind, name: string): Promise<void> {
  const key = `${kind}/${name}`;
  const { known, underWay } = ensured(ctx);
  if (known.has(key)) return Promise.resolve();
  const making = underWay.get(key) ?? make(ctx, kind, name).then(() => remember(ctx, kind, name));
  underWay.set(key, making);
  return making.finally(() => underWay.delete(key));
}

/** Makes sure of the queue of each item. @returns why an item's is refused */
export async function ensureEach(ctx: Context, kind: Kind, items: { queue: string }[]) {
  const refused = new Map<string, Error>();
  const names = [...new Set(items.map(({ queue }) => queue))];
  await Promise.all(names.map((name) => ensure(ctx, kind, name).catch((error: Error) => refused.set(name, error))));
  return items.map(({ queue }) => refused.get(queue));
}

async function make(ctx: Context, kind: Kind, name: string): Promise<void> {
  const { success, error } = NewName.safeParse(name);
  // earlier releases took other names
  if (!success && !(await get(ctx, kind, name)))
    throw invalid(kind === 'job' ? 'topic' : 'queue', error.issues[0]?.message ?? '');
  await ctx.db.run('ensure_queue', { kind, name });
}

/**
 * Replaces a ticket queue's settings, and applies them at once to what is open in it.
 * @throws Problem 422 when the form or a rule is not a JSON Schema that can be used
 */
export async function put(ctx: Context, name: string, settings: QueueSettings): Promise<QueueRow> {
  await checkSettings(ctx, name, settings);
  await checkSecond(ctx, name, settings);
  const levelSeconds = settings.ageing?.secondsPerLevel;
  const { gold, second, assist, highlight, guidelines } = settings;
  const checks = {
    gold: unless(NO_GOLD, gold),
    second: unless(NO_LOOKS, second),
    assist: unless(NO_MODELS, assist),
    desk: unless(NO_DESK, { highlight, guidelines }),
  };
  const row = { ...settings, ...checks, callback: ctx.secrets.seal(settings.callback) };
  const queue = only(await ctx.db.run('put_queue', { kind: 'ticket', name, levelSeconds, ...row }));
  if (queue.refresh_pending) await refresh(ctx, 'ticket', name);
  if (queue.assist) ctx.wakeAll(`assist/${name}`);
  return queue;
}

/** A setting as claims and decisions read it: none at all where it says what they do anyway. */
const unless = <T>(none: T, setting: T): T | null => (isDeepStrictEqual(setting, none) ? null : setting);

/** @throws Problem 422 where looks would wait in a queue that does not exist */
async function checkSecond(ctx: Context, name: string, { second: { queue = name } }: QueueSettings): Promise<void> {
  if (queue !== name && !(await get(ctx, 'ticket', queue))) throw invalid('second.queue', missing('ticket', queue));
}

/** What these settings would change of open tickets, and what their rules make of one as it is sent. @throws Problem 422 as `put` does */
export async function dryRun(ctx: Context, name: string, settings: QueueSettings, ticket?: TriedTicket) {
  await checkSettings(ctx, name, settings);
  await checkSecond(ctx, name, settings);
  const tried = ticket && { ticket: await rules.tryOn(ctx, name, settings, ticket) };
  return { ...(await rules.wouldMove(ctx, name, settings)), warnings: await warningsOf(ctx, name, settings), ...tried };
}

/** What is probably meant otherwise in these settings. */
export const warningsOf = async (ctx: Context, name: string, settings: QueueSettings): Promise<string[]> => [
  ...rules.warningsOf(settings.rules),
  ...(await formWarnings(ctx, name, settings)),
];

/** Stops or resumes handing out tickets. @throws Problem `not_found` */
export async function pause({ db, wakeAll }: Context, name: string, paused: boolean): Promise<QueueRow> {
  const queue = found(await db.run('pause_queue', { kind: 'ticket', name, paused }), missing('ticket', name));
  if (!paused) wakeAll(`ticket/${name}`);
  if (!paused && queue.assist) wakeAll(`assist/${name}`);
  return queue;
}

/** @throws Problem `not_found`, or `in_use` for a queue that has items or schedules, or that others' settings name */
export async function remove(ctx: Context, kind: Named, name: string): Promise<void> {
  const forget = () => ensured(ctx).known.delete(`${kind}/${name}`);
  const { outcome } = only(await ctx.db.run('delete_queue', { kind, name }).finally(forget));
  if (outcome === 'not_found') throw new Problem('not_found', missing(kind, name));
  const { queue, content } = NOUNS[kind];
  if (outcome === 'deleted') return;
  const why = outcome === 'used' ? `has ${content}` : `is ${outcome}`;
  throw new Problem('in_use', `${queue} ${name} ${why}, so it cannot be deleted`);
}

type Stats = RowOf<'queue_stats'>;

/**
 * By name: counts by state, exact as of the answer.
 * @param person a reviewer, whose own gold counts as tickets; null: no gold counts
 */
export async function statsOf(ctx: Context, kind: Kind, names: string[], person: string | null) {
  const rows = await ctx.db.lists.run('queue_stats', { kind, names });
  return new Map(await Promise.all(rows.map(async (row) => [row.name, await withGold(ctx, row, person)] as const)));
}

export const stats = async (ctx: Context, kind: Kind, name: string, person: string | null = null): Promise<Stats> =>
  only([...(await statsOf(ctx, kind, [name], person)).values()]);

async function withGold({ db }: Context, row: Stats, person: string | null): Promise<Stats> {
  if (!row.has_gold || person === null) return row;
  const own = only(await db.lists.run('own_gold', { queue: row.name, person }));
  const counts = { ...row.counts };
  for (const [state, n] of Object.entries(own.counts)) counts[state] = (counts[state] ?? 0) + n;
  const oldest = [row.oldest_waiting_seconds, own.oldest_waiting_seconds].filter((seconds) => seconds !== null);
  return {
    ...row,
    counts,
    oldest_waiting_seconds: oldest.length > 0 ? Math.max(...oldest) : null,
    claims_per_minute: row.claims_per_minute + own.claims_per_minute,
  };
}

const watches = perContext((ctx) => watching((name) => stats(ctx, 'ticket', name)));

/** Watches the stats of a queue of tickets, as `person` sees them, see `watching`. @returns what ends the watch */
export const watchStats = (
  ctx: Context,
  name: string,
  person: string | null,
  receive: (stats: Stats) => void,
): Promise<() => void> =>
  watches(ctx)(name, (row) => {
    if (!row.has_gold || person === null) return receive(row);
    // what cannot be read now is read with the next
    withGold(ctx, row, person).then(receive, () => {});
  });

/** Applies settings that have changed to the open items, and lets the clocks and followers look at what is due by them. */
export async function refresh(ctx: Context, kind: Kind, name: string): Promise<void> {
  const queue = await get(ctx, kind, name);
  if (!queue?.refresh_pending) return;
  await refreshItems(ctx, queue);
  ctx.rearm();
  ctx.follow();
}

/**
 * Applies a queue's changed settings to everything open in it, in batches that each commit: rank, deadline, the
 * escalations already reached, rules. Safe to repeat and to run twice at once; a crash in between leaves
 * `refresh_pending` true.
 */
async function refreshItems(ctx: Context, queue: QueueRow): Promise<void> {
  const { db } = ctx;
  const { kind, name, settings_version: settingsVersion } = queue;
  let last = { created_at: '-infinity', seq: 0 };
  for (;;) {
    const after = { afterCreatedAt: last.created_at, afterSeq: last.seq };
    const [batch] = await db.move('refresh_items', { kind, name, ...after, limit: REFRESH_BATCH });
    if (!batch) break;
    await tickThrough(db, kind, batch.due);
    await rules.evaluateIds(ctx, batch.ruled);
    last = batch;
  }
  await db.run('refresh_done', { kind, name, settingsVersion });
}
