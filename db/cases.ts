import type { Party } from '../contract/cases.ts';
import type { CaseItem, Item } from '../contract/items.ts';
import type { Sight } from '../domain/cases.ts';
import type { CourtRow } from './courts.ts';
import type { Mover, Queryable, Receipt } from './pool.ts';

export type { CaseItem };

/** What `add_cases` reads; `hash` is hex. */
export interface NewCaseRow {
  id: string;
  court: string;
  parties: Party[];
  body: unknown;
  hash: string;
  callback: Item['callback'];
  deadlineSeconds: number | null;
  /** The known answer of a gold case. */
  gold: string | null;
  /** Of a case without votes, as the court's strategies say. */
  votesLeft: number;
  priority: number;
  actor: string;
}

/** Cases that exist already are left out. */
export const addCases = (db: Mover, cases: NewCaseRow[]) =>
  db.move('add_cases', [JSON.stringify(cases.map((one, no) => ({ no, ...one })))]);

export const getCases = (db: Queryable, ids: string[]) => db.run<CaseItem>('get_cases', [ids]);

export async function getCase(db: Queryable, id: string): Promise<CaseItem | undefined> {
  return (await getCases(db, [id]))[0];
}

/**
 * What a juror has to do with a case; undefined: nothing.
 * @param who the juror, or whoever was given the token
 */
export async function caseSight(
  db: Queryable,
  id: string,
  who: { juror?: string | null; token?: string },
): Promise<Sight | undefined> {
  return (await db.run<Sight>('case_sight', [id, who.juror, who.token]))[0];
}

export interface CaseListFilter {
  court: string | undefined;
  /** A state of the core. */
  state: string | undefined;
  before: { createdAt: string; seq: number } | undefined;
}

export const listCases = (db: Queryable, f: CaseListFilter, limit: number) =>
  db.run<CaseItem>('list_cases', [f.court, f.state, f.before?.createdAt, f.before?.seq, limit]);

/** `changed`: cases of which a hold of the juror ended in between. */
export type Claimed = { changed: string[] } & (
  | { outcome: 'held' | 'resumed'; id: string; token: string; expires_at: Date }
  | { outcome: 'busy' | 'notEligible' | 'fatigue' | 'windowFull' | 'none'; id: null; token: null; expires_at: null }
);

/** See db/functions/courts.sql. */
const cases = (ids: string[]) => ({ kind: 'case' as const, ids });

export async function claimCase(db: Mover, court: string, juror: string, token: string): Promise<Claimed> {
  const moved = ([row]: Claimed[]) => cases(row?.outcome === 'held' ? [row.id, ...row.changed] : (row?.changed ?? []));
  const [row] = await db.move<Claimed>('claim_case', [court, juror, token], { moved });
  if (!row) throw new Error('claim_case returned no row');
  return row;
}

export interface CaseReasons {
  no_votes_left: number;
  voted: number;
  party: number;
  skipped: number;
  open: number;
}

export async function caseReasons(db: Queryable, court: string, juror: string): Promise<CaseReasons> {
  const [row] = await db.run<CaseReasons>('case_reasons', [court, juror]);
  if (!row) throw new Error('case_reasons returned no row');
  return row;
}

/** A case as it is judged. */
export type CaseToJudge = Pick<CaseItem, 'id' | 'tally' | 'votes' | 'stage' | 'gold'> &
  Omit<CourtRow, 'name'> & { settings_version: number };

export async function caseToJudge(db: Queryable, id: string): Promise<CaseToJudge | undefined> {
  return (await db.run<CaseToJudge>('case_to_judge', [id]))[0];
}

/** Why a holder's call changed nothing. */
export type Refused =
  | 'not_found'
  | 'foreign'
  | 'not_invited'
  | 'not_open'
  | 'lease_lost'
  | 'already_voted'
  | 'conflict_of_interest'
  | 'forbidden';

export interface CastVote {
  id: string;
  token: string;
  option: string;
  comment: string | null;
  /** Only if this is the holder; null: anybody with the token. */
  subject: string | null;
  /** What `verdict` was found for: so many counted votes, and these settings. */
  votes: number;
  settingsVersion: number;
  verdict: object;
}

export async function castVote(db: Mover, v: CastVote) {
  type Cast = { outcome: 'counted' | 'late' | 'repeated' | 'again' | Refused; counted: boolean };
  const values = [v.id, v.token, v.option, v.comment, v.subject, v.votes, v.settingsVersion, JSON.stringify(v.verdict)];
  const [row] = await db.move<Cast>('cast_vote', values, { moved: () => cases([v.id]) });
  if (!row) throw new Error('cast_vote returned no row');
  return row;
}

export interface Leave {
  id: string;
  token: string;
  subject: string | null;
  how: 'released' | 'skipped' | 'declined';
}

export async function leaveCase(db: Mover, l: Leave): Promise<'done' | 'repeated' | Refused> {
  type Left = { outcome: 'done' | 'repeated' | Refused };
  const how = { moved: () => cases([l.id]) };
  const [row] = await db.move<Left>('leave_case', [l.id, l.token, l.subject, l.how], how);
  if (!row) throw new Error('leave_case returned no row');
  return row.outcome;
}

export async function renewHold(db: Mover, id: string, token: string, subject: string | null) {
  type Renewed = { outcome: 'done'; expires_at: Date } | { outcome: Refused; expires_at: null };
  const [row] = await db.move<Renewed>('renew_hold', [id, token, subject], { moved: () => [] });
  if (!row) throw new Error('renew_hold returned no row');
  return row;
}

/** @returns the ids that were open */
export async function closeCases(db: Mover, ids: string[], reason: string, actor: string): Promise<string[]> {
  const moved = (rows: { id: string }[]) => cases(rows.map((row) => row.id));
  return moved(await db.move<{ id: string }>('close_cases', [ids, reason, actor], { moved })).ids;
}

export interface VoteRow {
  seq: number;
  juror: string;
  option: string;
  comment: string | null;
  at: Date;
  counted: boolean;
}

export const caseVotes = (db: Queryable, id: string, before: number | undefined, limit: number) =>
  db.run<VoteRow>('case_votes', [id, before, limit]);

/**
 * Invites jurors whom the case lacks, one for each token at most; see db/functions/invitations.sql.
 * @returns how many
 */
export async function inviteJurors(db: Mover, id: string, tokens: string[], how?: Receipt): Promise<number> {
  const moved = ([row]: { n: number }[]) => cases(row && row.n > 0 ? [id] : []);
  return (await db.move<{ n: number }>('invite_jurors', [id, tokens], { ...how, moved }))[0]?.n ?? 0;
}

export interface Invitation {
  token: string;
  case_id: string;
  court: string;
  expires_at: Date;
}

/** Newest first, from after the token of the last one before. */
export const invitationsOf = (db: Queryable, juror: string, before: string | undefined, limit: number) =>
  db.run<Invitation>('invitations', [juror, before, limit]);
