import type { Juror } from '../contract/courts.ts';
import type { Callback } from '../contract/items.ts';
import type { Mover, Queryable } from './pool.ts';

/** A row of `court`. */
export interface CourtRow {
  name: string;
  options: string[];
  votes_to_win: number;
  panel: number | null;
  overbook: number;
  window_cases: number | null;
  window_seconds: number | null;
  votes_per_day: number | null;
  mode: 'claim' | 'assign' | 'both';
  assign_jurors: number | null;
  answer_seconds: number | null;
  invites_per_day: number | null;
  record_late: boolean;
  quality: { agreement: number; after: number } | null;
  fallback: { extendSeconds: number } | { court: string } | { queue: string } | null;
  gold_share: number;
  admit: string;
  pick: string;
  decide: string;
  around: boolean;
  bar_agreement: number | null;
  bar_after: number | null;
  bar_newcomers: boolean;
  invitation_callback: Callback | null;
  /** The juror list that counts. */
  list: number;
}

/** What it shares with queues. */
export interface CourtQueue {
  lease_seconds: number;
  deadline_seconds: number | null;
  callback: Callback | null;
}

export type Court = CourtRow &
  CourtQueue & {
    settings_version: number;
    refresh_pending: boolean;
    created_at: Date;
    updated_at: Date;
    /** Its place in lists, newest first. */
    seq: number;
  };

/** To be called in a transaction: it ends what is decided by the settings of before. */
export async function putCourt(
  tx: Queryable,
  name: string,
  queue: CourtQueue,
  court: Omit<CourtRow, 'name' | 'list'>,
): Promise<Court> {
  await tx.run('replace_settings', [name]);
  const [row] = await tx.run<Court>('put_court', [name, JSON.stringify(queue), JSON.stringify(court)]);
  if (!row) throw new Error('put_court returned no row');
  return row;
}

export async function getCourt(db: Queryable, name: string): Promise<Court | undefined> {
  return (await db.run<Court>('get_court', [name]))[0];
}

export const listCourts = (db: Queryable, before: number | null, limit: number) =>
  db.run<Court>('list_courts', [before, limit]);

export interface OpenCase {
  id: string;
  created_at: string;
  seq: number;
  tally: Record<string, number>;
  votes: number;
  stage: number;
}

const OPEN_BATCH = 1_000;

/** A court's open cases in batches. */
export async function* openCases(db: Queryable, court: string): AsyncGenerator<OpenCase[]> {
  for (let last = { created_at: '-infinity', seq: 0 }; ; ) {
    const batch = await db.run<OpenCase>('open_cases', [court, last.created_at, last.seq, OPEN_BATCH]);
    const end = batch.at(-1);
    if (!end) return;
    yield batch;
    last = end;
  }
}

/** @returns the ids of cases with a new version; null: the court has other settings than these by now */
export async function rejudgeCases(
  db: Mover,
  { name, settings_version }: Pick<Court, 'name' | 'settings_version'>,
  found: { id: string; votes: number; verdict: object }[],
): Promise<string[] | null> {
  type Judged = { id: string | null };
  const ids = (rows: Judged[]) => rows.map((row) => row.id).filter((id) => id !== null);
  const moved = (rows: Judged[]) => ({ kind: 'case' as const, ids: ids(rows) });
  const rows = await db.move<Judged>('rejudge_cases', [name, JSON.stringify(found), settings_version], { moved });
  return ids(rows).length === rows.length ? ids(rows) : null;
}

export const refreshDone = (db: Queryable, court: Pick<Court, 'name' | 'settings_version'>) =>
  db.run('refresh_done', { kind: 'case', name: court.name, settingsVersion: court.settings_version });

export const putJurors = (db: Queryable, court: string, list: number, jurors: Juror[]) =>
  db.run('put_jurors', [court, JSON.stringify(jurors.map((juror, no) => ({ no, ...juror }))), list]);

/**
 * The number of a list that doesn't show yet; the same for every chunk of it.
 * @param first drops what has been uploaded under this name so far
 */
export async function openList(db: Queryable, court: string, name: string, first: boolean): Promise<number> {
  const [row] = await db.run<{ list: number }>('open_list', [court, name, first]);
  if (!row) throw new Error('open_list returned no row');
  return row.list;
}

/** From now on a list counts, and no other. */
export const swapList = (db: Queryable, court: string, name: string) => db.run('swap_list', [court, name]);

export const forgetLists = (db: Queryable, court: string) => db.run('forget_lists', [court]);

export async function countJurors(db: Queryable, court: string, list: number): Promise<number> {
  return (await db.run<{ n: number }>('count_jurors', [court, list]))[0]?.n ?? 0;
}

export const goldOf = (db: Queryable, court: string) =>
  db.run<{ id: string; ended_at: Date | null }>('gold_of', [court]);

export const changeGold = (db: Mover, court: string, gold: { id: string; gold: string; body: unknown }[]) =>
  db.move('change_gold', [court, JSON.stringify(gold)], { moved: () => [] });

export interface CourtCounts {
  /** Sums of the court's signed rows: states of the core, `votes`, `wasted`, `votes {tally}`, … */
  counts: Record<string, number>;
  /** Gold cases by state, which the counts above contain. */
  gold: Record<string, number>;
  votes_last_hour: number;
  wasted_last_hour: number;
}

export async function courtStats(db: Queryable, court: string): Promise<CourtCounts> {
  const [row] = await db.run<CourtCounts>('court_stats', [court]);
  if (!row) throw new Error('court_stats returned no row');
  return row;
}
