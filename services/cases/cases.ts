import type { NewCase as Content, PatchCase, ResolveCase } from '../../contract/cases.ts';
import type { CaseItem } from '../../contract/items.ts';
import { type Mover, only, type ParamsOf, type RowOf } from '../../db/pool.ts';
import { caseView, jurorView } from '../../domain/cases.ts';
import { BY_ID, shareRowSets } from '../shared/batching.ts';
import { checkAnswer } from '../shared/checks.ts';
import { type Context, found, invalid, Problem, perContext } from '../shared/service.ts';
import { addEach, added, met, one } from '../shared/sets.ts';
import { contentHash } from '../shared/tokens.ts';
import { addCases, movedCases, type NewCase } from './adding.ts';
import * as courts from './courts.ts';
import { noCase, rejected } from './judging.ts';
import { sight, whyEmpty } from './sight.ts';

/** `state`: of the core. */
type CaseFilter = Pick<ParamsOf<'list_cases'>, 'court' | 'state'> & { before?: { time: string; seq: number } };

const addShared = perContext(({ db }) => shareRowSets((cases: NewCase[]) => addCases(db, cases), BY_ID));

/**
 * Adds cases as a set, in statements with concurrent ones (S2.1).
 * @returns for each what came of it, or Problem `id_conflict` when the id stands for other content
 */
export async function addAll(ctx: Context, court: courts.Court, cases: (Content & { id: string })[], actor: string) {
  const rows = cases.map(({ id, parties, body, deadlineSeconds = null, callback = null }) => {
    const content = { parties, body, deadlineSeconds, callback };
    const hash = contentHash({ court: court.name, ...content });
    return { id, court, ...content, callback: ctx.secrets.seal(callback), gold: null, hash, actor };
  });
  const find = met('case', (ids) => ctx.db.run('get_items', { kind: 'case', ids }));
  const outcomes = await addEach('case', rows, [added(addShared(ctx)), find]);
  for (const one of outcomes) if ('created' in one && one.created) ctx.tracing?.saw('case', one.item.id);
  return outcomes;
}

/** Adds one. @throws what `addAll` returns */
export const add = async (ctx: Context, court: courts.Court, sent: Content & { id: string }, actor: string) =>
  one(await addAll(ctx, court, [sent], actor));

/** @throws Problem `not_found` */
export const get = async ({ db }: Context, id: string): Promise<CaseItem> =>
  found(await db.run('get_cases', { ids: [id] }), noCase(id));

/** Cases without gold, newest first. */
export const list = ({ db }: Context, { before, ...filter }: CaseFilter, limit: number): Promise<CaseItem[]> =>
  db.lists.run('list_cases', { ...filter, beforeCreatedAt: before?.time, beforeSeq: before?.seq, limit });

/** The votes on a case, newest first, those before the number `before`. @throws Problem `not_found` */
export async function votes(ctx: Context, id: string, before: number | undefined, limit: number) {
  await get(ctx, id);
  return ctx.db.lists.run('case_votes', { id, before, limit });
}

/**
 * Explains why a claim gives a juror nothing, or whether a case of the court is offered to them.
 * @param subject the caller's own person, who may know of cases that they were handed only; null: any
 * @throws Problem `not_found`
 */
export async function explain(
  ctx: Context,
  court: courts.Court,
  juror: string,
  id: string | undefined,
  subject: string | null,
) {
  if (id === undefined) {
    const { outcome, ...found } = only(await ctx.db.run('explain_juror', { court: court.name, juror }));
    return { reasons: await whyEmpty(ctx, court, juror, outcome, found) };
  }
  const item = await get(ctx, id);
  const seen = await sight(ctx, item, { juror });
  if (subject !== null && !seen) throw new Problem('not_found', noCase(id));
  const { why, ahead } = only(await ctx.db.run('explain_case', { id, court: court.name, juror }));
  // gold ends for each juror by itself, or is withdrawn
  const views = [...(seen && item.gold !== null ? [jurorView(item, ...seen)] : []), caseView(item)];
  const end = views.find(({ state }) => state !== 'open');
  if (end) why.unshift(end.state);
  return { offered: why.length === 0, why, ahead };
}

/**
 * Changes an open case, also while it is held; a holder who is a party now loses the hold (S2.3).
 * @throws Problem `not_found`, `not_open`
 */
export async function change(ctx: Context, id: string, sent: PatchCase, actor: string): Promise<CaseItem> {
  const { deadlineAt, ...fields } = sent;
  // the event shows the change as every other time is shown
  const change = { ...fields, deadlineAt: deadlineAt ? new Date(deadlineAt).toISOString() : deadlineAt };
  const moved = movedCases(({ changed }: RowOf<'change_case'>) => (changed ? id : null));
  const { changed } = only(await ctx.db.move('change_case', { id, change, actor }, { moved }));
  if (!changed) throw await rejected(ctx, { id }, 'not_open');
  return get(ctx, id);
}

/**
 * Decides an open case from outside; a repeated call has the same answer (S2.2).
 * @throws Problem `not_found`, `not_open`, 422 for a winner that is no option of the court
 */
export async function resolve(ctx: Context, id: string, { winner, reason }: ResolveCase, actor: string) {
  const { options, ended_at } = await get(ctx, id);
  if (ended_at === null && !options.includes(winner)) throw invalid('winner', `must be one of ${options.join(', ')}`);
  const closed = await closeCases(ctx.db, [id], reason, actor, winner);
  return ended(ctx, id, closed, { state: 'settled', winner, ended_by: actor, end_reason: reason });
}

/**
 * Asks for a second look at a verdict: a case of the same court for people who have not voted on it. Of a look, it is
 * one at what that is about. The same call again has the same look.
 * @returns the look, and whether this call has opened it
 * @throws Problem `not_found`, `erased`, `not_final`, `already_open`
 */
export async function appeal(ctx: Context, id: string, by: string, reason: string | undefined, actor: string) {
  const named = await get(ctx, id);
  const { id: first, queue, parties, body } = named.look?.of ? await get(ctx, named.look.of.id) : named;
  const court = await courts.get(ctx, queue);
  const asked = { kind: 'case', id, cause: 'appeal', by, actor };
  const moved = movedCases(({ answer, original }: RowOf<'ask_for_look'>) => (answer === 'created' ? original : null));
  const { answer, look_id } = await ctx.db.transaction(async (tx) => {
    const given = only(await tx.move('ask_for_look', asked, { moved }));
    const look = { of: { id: first, cause: 'appeal' as const }, reason };
    const plain = { callback: null, deadlineSeconds: null, gold: null, hash: contentHash(look), actor };
    if (given.answer === 'created')
      await addCases(tx, [{ id: given.look_id ?? '', court, parties, body, ...plain, look }]);
    return given;
  });
  checkAnswer(answer);
  return { item: await get(ctx, look_id ?? ''), created: answer === 'created' };
}

/** Ends an open case without a winner; a repeated call has the same answer. @throws Problem `not_found`, `not_open` */
export async function invalidate(ctx: Context, id: string, reason: string, actor: string): Promise<CaseItem> {
  const closed = await closeCases(ctx.db, [id], reason, actor);
  return ended(ctx, id, closed, { state: 'invalidated', ended_by: actor, end_reason: reason });
}

/** The case that a call ended, or that the same call had ended before. @throws Problem `not_found`, `not_open` */
async function ended(ctx: Context, id: string, closed: string[], wanted: Partial<CaseItem>): Promise<CaseItem> {
  const item = await get(ctx, id);
  const isSame = Object.entries(wanted).every(([name, value]) => item[name as keyof CaseItem] === value);
  if (closed.length === 0 && !isSame) throw await rejected(ctx, { id }, 'not_open');
  return item;
}

/** @param winner decides them from outside; without it they end without one @returns the ids that were open */
export async function closeCases(db: Mover, ids: string[], reason: string, actor: string, winner?: string) {
  const moved = movedCases(({ id }: { id: string }) => id);
  const params = { ids, reason, actor, winner: winner ?? null };
  return (await db.move('close_cases', params, { moved })).map(({ id }) => id);
}
