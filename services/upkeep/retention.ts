import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreState, Kind } from '../../contract/snapshot.ts';
import { only, type RowOf } from '../../db/pool.ts';
import { wordIn } from '../../domain/kind.ts';
import { kindOf } from '../../domain/kinds.ts';
import { kindsCleared, retentionOf } from '../../domain/retention.ts';
import { FELT } from '../../runtime/followers/pace.ts';
import { pagesOf } from '../shared/batching.ts';
import { background, type Context, perContext } from '../shared/service.ts';
import { writeArchive } from './archive.ts';

/** Items that one statement finds and one transaction clears; reviews may have megabytes each. */
const BATCH = 200;
const REVIEWS = 10;
const QUEUES = 1_000;
/** Share of the time for clearing, by the slowdown of calls; the rest is left to calls that had to wait. */
const SHARES = { alone: 0.9, unfelt: 0.5, felt: 0.2 };
const EACH_MS = 60_000;

/** Clears one group of finished items, such as the decided tickets of a queue. */
interface Walk {
  kind: string;
  /** The name of the group in the log. */
  of: string;
  /** Candidates; `done` are old enough. */
  found: AsyncGenerator<{ id: string; done: boolean }[]>;
  /** Lines for the archive, as many as fit on a page, each with the number of its item's last event. */
  show(ids: string[]): Promise<{ id: string; seq: number; line: string }[]>;
  /** Clears items, except those with events after `seqs`. @param seqs null: whatever events they have */
  forget(ids: string[], seqs: number[] | null): Promise<{ n: number }[]>;
}

const next = perContext(() => ({ dueAt: 0 }));

/**
 * Retention (S4.10): clears items that ended longer ago than they are kept, after writing them to the archive, if there
 * is one. A maintenance chore, once a minute in the process that follows the first part of the log. A crash between archive
 * and clearing, or a change of that process, may write the same items twice; nothing is cleared that was not written.
 */
export const { look, stop } = background(clearDue, 'retention failed, trying again in a minute');

/**
 * Clears all items that are due, in small transactions with pauses. An item that cannot be cleared is logged and skipped.
 * @param goesOn asked after each batch
 * @param signal ends pauses
 * @returns the number of items, reviews and tasks that were cleared
 * @throws Error where the archive cannot be written; items that were cleared before stay cleared
 */
export async function clear(ctx: Context, goesOn = () => true, signal?: AbortSignal): Promise<number> {
  let cleared = 0;
  for await (const walk of walks(ctx)) {
    let began = performance.now();
    for await (const found of walk.found) {
      const ids = found.filter(({ done }) => done).map(({ id }) => id);
      for (let at = 0; at < ids.length; ) {
        const { n, passed } = await clearThese(ctx, walk, ids.slice(at));
        cleared += n;
        at += passed;
      }
      const pauseMs = (performance.now() - began) * (1 / shareOf(ctx) - 1);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (!goesOn()) return cleared;
      began = performance.now();
    }
  }
  return cleared;
}

async function clearDue(ctx: Context, signal: AbortSignal): Promise<void> {
  const leads = () => !signal.aborted && (ctx.follower?.leads ?? false);
  if (!leads() || performance.now() < next(ctx).dueAt) return;
  const n = await clear(ctx, leads, signal).finally(() => {
    next(ctx).dueAt = performance.now() + EACH_MS;
  });
  if (n > 0) ctx.log.info({ n }, 'cleared what had been kept for its time');
}

async function* walks(ctx: Context): AsyncGenerator<Walk> {
  const rules = ctx.config.retention;
  const kinds = kindsCleared(rules);
  const queues = pagesOf<RowOf<'finished_queues'>>((last) => {
    const after = { afterKind: last?.kind ?? '', afterQueue: last?.queue ?? '', afterState: last?.state ?? '' };
    return ctx.db.lists.run('finished_queues', { kinds, ...after, limit: QUEUES });
  }, QUEUES);
  if (kinds.length > 0)
    for await (const page of queues)
      for (const { kind, queue, state } of page) {
        const days = retentionOf(rules, kind, queue);
        if (days !== null) yield itemsOf(ctx, kind as Kind, queue, state as CoreState, days);
      }
  for (const { queue } of kinds.includes('job') ? await ctx.db.lists.run('topics_with_runs') : []) {
    const days = retentionOf(rules, 'job', queue);
    if (days !== null) yield runsOf(ctx, queue, days);
  }
  const reviewDays = retentionOf(rules, 'review');
  if (reviewDays !== null) yield reviewsOf(ctx, reviewDays);
  const taskDays = retentionOf(rules, 'task');
  if (taskDays !== null) yield tasksOf(ctx, taskDays);
}

function itemsOf({ db }: Context, kind: Kind, queue: string, state: CoreState, days: number): Walk {
  const finished = { kind, queue, state, days, limit: BATCH };
  return {
    kind,
    of: `${kind}s of ${queue}`,
    found: pagesOf<Placed>((last) => db.lists.run('finished_items', { ...finished, ...after(last) }), BATCH),
    show: (ids) => db.lists.run('archived_items', { kind, ids, word: wordIn(kindOf(kind).words, state) }),
    forget: (ids, seqs) => db.move('forget_items', { kind, ids, seqs }),
  };
}

/** Jobs whose ids have begun anew; the ids here are their numbers. */
function runsOf({ db }: Context, queue: string, days: number): Walk {
  return {
    kind: 'job',
    of: `earlier runs of ${queue}`,
    found: pagesOf<Placed>(
      (last) => db.lists.run('finished_runs', { queue, days, ...after(last), limit: BATCH }),
      BATCH,
    ),
    show: (ids) => db.lists.run('archived_runs', { ids }),
    forget: (ids) => db.run('forget_runs', { ids }),
  };
}

function reviewsOf({ db }: Context, days: number): Walk {
  const page = (last: RowOf<'finished_reviews'> | undefined) =>
    db.lists.run('finished_reviews', { days, after: last?.seq ?? 0, limit: REVIEWS });
  return {
    kind: 'review',
    of: 'reviews',
    found: pagesOf(page, REVIEWS),
    show: (ids) => db.lists.run('archived_reviews', { ids }),
    forget: (ids, seqs) => db.run('forget_reviews', { ids, seqs }),
  };
}

/** A task is cleared after the last of its occurrences. */
function tasksOf({ db }: Context, days: number): Walk {
  return {
    kind: 'rotation',
    of: 'tasks',
    found: pagesOf<Placed>((last) => db.lists.run('finished_tasks', { days, ...after(last), limit: BATCH }), BATCH),
    show: (ids) => db.lists.run('archived_tasks', { ids }),
    forget: (ids, seqs) => db.move('forget_tasks', { ids, seqs }),
  };
}

/**
 * Clears the first of these items, as many as fit on a page of the archive. Where the database fails, half as many are
 * tried; an item that fails alone is skipped.
 */
async function clearThese(ctx: Context, walk: Walk, ids: string[]): Promise<{ n: number; passed: number }> {
  const { archive } = ctx.config;
  try {
    const lines = archive === undefined ? undefined : await walk.show(ids);
    if (archive !== undefined && lines && lines.length > 0) await writeArchive(archive, walk.kind, lines);
    const these = lines?.map(({ id }) => id) ?? ids;
    const { n } = only(await walk.forget(these, lines?.map(({ seq }) => seq) ?? null));
    // no line: another process has cleared them meanwhile
    return { n, passed: these.length || ids.length };
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    if (ids.length > 1) return clearThese(ctx, walk, ids.slice(0, Math.ceil(ids.length / 2)));
    ctx.log.error({ of: walk.of, id: ids[0], err: (error as Error).message }, 'this one cannot be cleared');
    return { n: 0, passed: 1 };
  }
}

function shareOf({ load: { slowdown } }: Context): number {
  if (slowdown === undefined) return SHARES.alone;
  return slowdown > FELT ? SHARES.felt : SHARES.unfelt;
}

type Placed = RowOf<'finished_items'>;
const after = (last: Placed | undefined) => ({ afterAt: last?.at ?? '-infinity', afterSeq: last?.seq ?? 0 });

/** Whether PostgreSQL would fail again, by SQLSTATE: the data is too large, or the statement too slow. */
const isTooMuch = (error: unknown) => /^(22...|53200|54...|57014)$/.test(String((error as { code?: unknown }).code));
