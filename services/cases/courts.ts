import { setTimeout as sleep } from 'node:timers/promises';
import type { CourtSettings } from '../../contract/courts.ts';
import { type Db, type Mover, only, type Queryable, type RowOf } from '../../db/pool.ts';
import { asColumns } from '../../db/rows.ts';
import type { CourtRow } from '../../db/statements.ts';
import * as rules from '../../domain/courts.ts';
import { batchesOf, pagesOf } from '../shared/batching.ts';
import { checkZone } from '../shared/checks.ts';
import { type Context, found, invalid, Problem } from '../shared/service.ts';
import { movedCases } from './adding.ts';
import * as invitations from './invitations.ts';

/** A court with its settings. */
export type Court = RowOf<'get_court'>;

/** A call that changes settings is answered after this time, while they are still applied to open cases. */
const ANSWER_MS = 1_000;

const noCourt = (name: string) => `there is no court ${name}`;

/** @throws Problem `not_found` */
export const get = async ({ db }: Context, name: string): Promise<Court> =>
  found(await db.run('get_court', { name, deleted: false }), noCourt(name));

/** Newest first, those before the number `before`. */
export const list = ({ db }: Context, before: number | null, limit: number): Promise<Court[]> =>
  db.lists.run('list_courts', { before, limit });

/**
 * Replaces all settings, also for open cases (S2.8). Applying them may go on for some time after the answer.
 * @throws Problem 422 for settings that contradict each other, `in_use` for the removal of an option with votes
 */
export async function put(ctx: Context, name: string, settings: CourtSettings): Promise<Court> {
  await checkSettings(ctx, name, settings);
  const { db, secrets } = ctx;
  const { leaseSeconds: lease_seconds, deadlineSeconds: deadline_seconds } = settings;
  const callback = secrets.seal(settings.callback);
  const own = { ...rowOf(settings), invitation_callback: secrets.seal(settings.invitationCallback) };
  const row = { name, queue: { lease_seconds, deadline_seconds, callback }, court: own };
  const court = await db.transaction(async (tx) => {
    await tx.run('replace_settings', { court: name });
    // no vote is counted between this and the commit
    const cases = await withRemovedOptions(tx, name, settings);
    if (cases.length > 0)
      throw new Problem('in_use', 'open cases have votes for options that these settings remove', { cases });
    const saved = only(await tx.run('put_court', row));
    // a higher cap, another threshold or a longer window may free any juror
    await tx.run('free_jurors', { court: name });
    return saved;
  });
  invitations.look(ctx);
  if (court.refresh_pending) await apply(ctx, name);
  return court;
}

/**
 * Applies new settings to the open cases, and returns after a second at most. Nothing depends on the rest: a vote is
 * judged by the new settings, and maintenance completes what this process cannot.
 */
async function apply(ctx: Context, name: string): Promise<void> {
  const applied = refresh(ctx, name).then(() => ctx.rearm());
  await Promise.race([applied, sleep(ANSWER_MS, undefined, { ref: false })]);
  applied.catch((error: Error) =>
    ctx.log.warn({ court: name, err: error.message }, 'settings are not applied to all cases yet'),
  );
}

/**
 * What these settings would do to open cases: which they decide or hang at once, which need more votes than now, and for
 * which `put` would refuse them.
 * @throws Problem 422 as `put` does
 */
export async function dryRun(ctx: Context, name: string, settings: CourtSettings) {
  await checkSettings(ctx, name, settings);
  const court = rowOf(settings);
  const found = { wouldDecide: [] as string[], wouldHang: [] as string[] };
  const longer: { id: string; votesLeft: { before: number; after: number } }[] = [];
  for await (const batch of openCases(ctx.db, name, court.by_records))
    for (const { id, tally, stage, ballots, votes_left: before } of batch) {
      const { winner, hung, votesLeft: after } = rules.verdictOf(court, tally, stage, ballots);
      if (winner !== null) found.wouldDecide.push(id);
      else if (hung) found.wouldHang.push(id);
      else if (after > before) longer.push({ id, votesLeft: { before, after } });
    }
  const leavesOpen = longer.toSorted((a, b) => a.votesLeft.before - b.votesLeft.before).slice(0, MOST_LISTED);
  return { ...found, leavesOpen, inUse: await withRemovedOptions(ctx.db, name, settings) };
}

const MOST_LISTED = 1_000;

/** Open cases with votes for options that these settings remove, the oldest first. */
const withRemovedOptions = async (db: Queryable, court: string, { options }: CourtSettings): Promise<string[]> =>
  (await db.run('cases_with_removed_options', { court, options, limit: MOST_LISTED })).map(({ id }) => id);

/**
 * Deletes a court that has no open cases, with its jurors and its gold. Its final cases stay.
 * @throws Problem `not_found`, `in_use` while cases are open
 */
export async function remove({ db }: Context, name: string, actor: string): Promise<void> {
  const moved = movedCases(({ id }: RowOf<'delete_court'>) => id);
  const { outcome } = only(await db.move('delete_court', { name, actor }, { moved }));
  if (outcome === 'not_found') throw new Problem('not_found', noCourt(name));
  if (outcome === 'used') throw new Problem('in_use', `court ${name} has open cases, so it cannot be deleted`);
}

/** @throws Problem `not_found` */
export async function stats(ctx: Context, name: string) {
  await get(ctx, name);
  return only(await ctx.db.lists.run('court_stats', { court: name }));
}

/** Checks the rules that a JSON Schema cannot express. @throws Problem 422 */
async function checkSettings(ctx: Context, name: string, settings: CourtSettings): Promise<void> {
  const { strategy, panel, votesToWin, mode, assign, fallback } = settings;
  const known = { admit: rules.ADMITS, pick: rules.PICKS, decide: rules.DECIDES };
  for (const [what, names] of Object.entries(known)) {
    const chosen = strategy[what as keyof typeof known];
    if (!names.includes(chosen)) throw invalid(`strategy.${what}`, `must be one of ${names.join(', ')}`);
  }
  if (panel !== null && panel < votesToWin) throw invalid('panel', 'must be at least votesToWin');
  for (const needed of rules.decidingBy(strategy.decide).needs ?? [])
    if (settings[needed] === null) throw invalid(needed, `is required with strategy.decide ${strategy.decide}`);
  if (rules.verdictOf(rowOf(settings), {}, 0).hung) throw invalid('maxVotes', 'is too low for any case to be decided');
  if (mode !== 'claim' && assign === null) throw invalid('assign', `is required with mode ${mode}`);
  if (fallback && 'court' in fallback && fallback.court === name)
    throw invalid('fallback.court', 'must be another court');
  await checkZone(ctx, settings.timezone);
}

function rowOf(settings: CourtSettings): Omit<CourtRow, 'name' | 'list'> & rules.Ruled {
  const { strategy, window, assign, lateVotes, leaseSeconds, deadlineSeconds, callback, ...own } = settings;
  const eligibility = rules.eligibilityOf(strategy.admit, settings);
  return {
    ...asColumns(own),
    ...strategy,
    by_records: rules.decidingBy(strategy.decide).byRecords ?? false,
    window_cases: window?.cases ?? null,
    window_seconds: window?.seconds ?? null,
    assign_jurors: assign?.jurors ?? null,
    answer_seconds: assign?.answerSeconds ?? null,
    invites_per_day: assign?.perJurorPerDay ?? null,
    invites_open: assign?.perJuror ?? 1,
    record_late: lateVotes === 'record',
    random_start: rules.orderOf(strategy.pick).randomStart,
    bar_agreement: eligibility.agreement,
    bar_after: eligibility.after,
    bar_newcomers: eligibility.newcomers,
  };
}

/** Ends the holds of jurors who may not vote any more, of these persons or accounts or of all (S2.3, S2.5). */
export const endBarredHolds = (db: Mover, court: string, persons: string[] | null = null) =>
  db.move('end_barred_holds', { court, persons }, { moved: movedCases(({ id }: RowOf<'end_barred_holds'>) => id) });

const OPEN_BATCH = 1_000;

/** A court's open cases in batches, with the votes and their voters' records if `ballots` is true. */
const openCases = (db: Db, court: string, ballots: boolean) =>
  pagesOf<RowOf<'open_cases'>>((last) => {
    const after = { afterCreatedAt: last?.created_at ?? '-infinity', afterSeq: last?.seq ?? 0 };
    return db.run('open_cases', { court, ballots, ...after, limit: OPEN_BATCH });
  }, OPEN_BATCH);

/** Cases in one transaction: deciding one takes longer than moving it in the order of open cases. */
const PER_TRANSACTION = { decided: 25, open: 1_000 };

/**
 * Judges a court's open cases again after its settings changed, in batches that each commit; cases that the settings
 * decide come first (S2.8). Safe to repeat and to run concurrently; it ends when the settings change again. A crash in
 * between leaves `refresh_pending` true.
 */
export async function refresh({ db }: Context, name: string): Promise<void> {
  const [court] = await db.run('get_court', { name, deleted: false });
  if (!court?.refresh_pending) return;
  const { settings_version: settingsVersion } = court;
  await db.transaction(async (tx) => {
    await tx.run('lock_jurors', { court: name });
    await endBarredHolds(tx, name);
  });
  const moved = movedCases(({ id }: RowOf<'rejudge_cases'>) => id);
  for (const part of ['decided', 'open'] as const)
    for await (const batch of openCases(db, name, court.by_records)) {
      const judged = batch
        .map((c) => ({ id: c.id, votes: c.votes, verdict: rules.verdictOf(court, c.tally, c.stage, c.ballots) }))
        .filter(({ verdict }) => (verdict.winner !== null || verdict.hung) === (part === 'decided'));
      for (const some of batchesOf(judged, PER_TRANSACTION[part])) {
        const rows = await db.move('rejudge_cases', { court: name, found: some, settingsVersion }, { moved });
        // another call has replaced the settings
        if (rows.some(({ id }) => id === null)) return;
      }
    }
  await db.run('refresh_done', { kind: 'case', name, settingsVersion });
}
