import type { Change, Item } from '../../contract/items.ts';
import type { Assist, NewSuggestion } from '../../contract/suggestions.ts';
import type { ParamsOf, RowOf } from '../../db/pool.ts';
import type { QueueRow, SuggestionRow } from '../../db/statements.ts';
import { isItem, isMarked } from '../../runtime/commits.ts';
import type { Gone } from '../../runtime/waiting.ts';
import { fitForm, fits, fitTicket } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { BY_ID, shareRows } from '../shared/batching.ts';
import { type Context, erased, found, Problem, perContext } from '../shared/service.ts';
import { contentHash, newToken } from '../shared/tokens.ts';
import { changed } from './decisions.ts';
import { refusal } from './leases.ts';

/** Tickets that one round looks at. */
const BATCH = 250;
/** How often settings may change under a call, or suggestions miss a form. */
const MAX_TRIES = 10;
/** Tickets of which one call of the figures is made. */
const MOST_LINES = 50_000;

type Modes = Map<string, Assist['mode']>;

/** What this process knows of the part that models have in queues. Waiters are woken where models wait, too. */
const states = perContext((ctx) => {
  const state = { modes: undefined as Promise<Modes> | undefined };
  ctx.waiters.watch((key) => {
    const [kind, ...name] = key.split('/');
    if (kind === 'ticket') ctx.waiters.ready(workKey(name.join('/')), Number.POSITIVE_INFINITY);
    if (kind !== 'assist') return;
    state.modes = undefined;
    decideWaiting(ctx, name.join('/')).catch(later(ctx));
  });
  return state;
});

const workKey = (queue: string) => `unsuggested/${queue}`;
const later = (ctx: Context) => (error: Error) =>
  ctx.log.warn({ err: error.message }, 'suggestions decide later, because of an error');

/** The modes of queues in which models have a part. */
function modesOf(ctx: Context): Promise<Modes> {
  const state = states(ctx);
  state.modes ??= ctx.db.run('assist_modes').then(
    (rows) => new Map(rows.map(({ name, mode }) => [name, mode])),
    (error) => {
      state.modes = undefined;
      throw error;
    },
  );
  return state.modes;
}

/**
 * Keeps what a model suggests for an open ticket, or for gold; in mode auto it may decide the ticket. The same again changes
 * nothing, unless the ticket has another body.
 * @param checkQueue throws where the caller may not act in the queue of gold
 * @throws Problem `not_found`, `not_open`, `changed`, `id_conflict` where the model has suggested something else, `erased`,
 * 422 where the decision does not fit the queue's form
 */
export async function add(
  ctx: Context,
  id: string,
  model: string,
  { version, ...given }: NewSuggestion,
  checkQueue: (queue: string) => void,
) {
  const { decision, confidence, reasons = null } = given;
  const hash = contentHash({ decision, confidence, reasons });
  const texts = { decision: JSON.stringify(decision), reasons: reasons === null ? null : JSON.stringify(reasons) };
  const said = { id, model, confidence, hash, ...texts };
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const item = await items.get(ctx, 'ticket', id);
    const gold = item ? undefined : found(await ctx.db.run('queue_of_gold', { id }), `there is no ticket ${id}`);
    if (gold) checkQueue(gold.name);
    const [existing] = await ctx.db.run('get_suggestion', { id: gold ? `/${id}` : id, model });
    if (existing && !isOutdated(existing, item, version))
      return { row: sameSuggestion(existing, id, hash), created: false };
    const row = item ? await addTo(ctx, item, said, decision, version) : await addToGold(ctx, gold, said, decision);
    if (row?.mode === 'auto' && item) await decide(ctx, [id]);
    if (row) return { row, created: true };
  }
  throw new Problem('unavailable', `ticket ${id} and the settings of its queue change all the time`, { retryAfter: 1 });
}

/** Whether a suggestion was made for an earlier body of an open ticket than the one that the caller has seen. */
const isOutdated = (row: SuggestionRow, item: Item | undefined, seen = Number.POSITIVE_INFINITY) =>
  item?.ended_at === null && row.content_version !== item.content_version && seen >= (item.content_version ?? 0);

type Said = Omit<ParamsOf<'add_suggestion'>, 'formVersion' | 'version'>;

async function addTo(ctx: Context, item: Item, said: Said, decision: unknown, version?: number) {
  if (item.erased) throw erased(`ticket ${item.id}`);
  if (item.ended_at !== null) throw refusal(item);
  if (version !== undefined && item.content_version !== null && item.content_version > version) throw changed(item);
  const formVersion = await fitTicket(ctx, item, await queues.get(ctx, 'ticket', item.queue), decision);
  return (await ctx.db.run('add_suggestion', { ...said, formVersion, version }))[0];
}

async function addToGold(ctx: Context, queue: QueueRow | undefined, said: Said, decision: unknown) {
  if (!queue) return undefined;
  const formVersion = await fitForm(ctx, queue, decision);
  return (await ctx.db.run('add_gold_suggestion', { ...said, queue: queue.name, formVersion }))[0];
}

function sameSuggestion(row: SuggestionRow, id: string, hash: string): SuggestionRow {
  if (row.hash.length === 0) throw erased(`ticket ${id}`);
  if (Buffer.from(row.hash).toString('hex') === hash) return row;
  throw new Problem('id_conflict', `model ${row.model} has suggested something else for ticket ${id}`);
}

type WorkList = ParamsOf<'unsuggested'> & { waitSeconds: number; signal: Gone };

/** The tickets of a queue that wait or are held without a suggestion of this model, in order of rank; waits for one if asked to. */
export async function unsuggested(ctx: Context, { waitSeconds: seconds, signal, ...wanted }: WorkList) {
  states(ctx);
  const keys = () => [workKey(wanted.queue)];
  const found = await ctx.waiters.waitFor({ keys, seconds, signal }, async () => {
    const rows = await ctx.db.lists.run('unsuggested', wanted);
    return rows.length > 0 ? rows : undefined;
  });
  return found ?? [];
}

/** Who is shown what is suggested for a ticket; null: nobody who decides it. */
type Showing = { id: string; person: string | null };

const sharedShowings = perContext(({ db }) =>
  shareRows(
    (all: Showing[]) =>
      db.run('show_suggestions', { ids: all.map(({ id }) => id), persons: all.map(({ person }) => person) }),
    BY_ID,
  ),
);

/**
 * What models suggest for these tickets, by id: of those in queues in mode suggest that are open.
 * @param person to whom it is shown, who may decide them; null: nobody who does
 */
export async function shownFor(ctx: Context, shown: { id: string; queue: string }[], person: string | null) {
  const modes = shown.length > 0 ? await modesOf(ctx) : undefined;
  const wanted = shown.filter(({ queue }) => modes?.get(queue) === 'suggest');
  const rows = await Promise.all(wanted.map(({ id }) => sharedShowings(ctx)({ id, person })));
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]));
}

/** Lets suggestions decide tickets that wait again since a commit of this process. */
export function follow(ctx: Context, changes: Change[]): void {
  const rows = changes.filter(isItem).filter((row) => row.kind === 'ticket' && row.state === 'ready' && !isMarked(row));
  if (rows.length === 0) return;
  const decideThese = async () => {
    const modes = await modesOf(ctx);
    const ids = rows.filter(({ queue }) => modes.get(queue) === 'auto').map(({ id }) => id);
    await decide(ctx, ids);
  };
  decideThese().catch(later(ctx));
}

/** Does what a crash or a lost hint has left: a maintenance chore. */
export async function sweep(ctx: Context): Promise<void> {
  states(ctx).modes = undefined;
  const modes = await modesOf(ctx);
  if ([...modes.values()].includes('auto')) await decideWaiting(ctx);
}

/** Lets suggestions decide what waits, in one queue or in all. */
async function decideWaiting(ctx: Context, queue?: string): Promise<void> {
  for (let decided = 1; decided > 0; ) {
    const ids = (await ctx.db.run('suggested_tickets', { queue, limit: BATCH })).map(({ id }) => id);
    decided = await decide(ctx, ids);
  }
}

/** Lets the first suggestion that may decide each of these tickets. @returns 0 if none is decided */
async function decide(ctx: Context, ids: string[]): Promise<number> {
  let decided = 0;
  for (let left = [...new Set(ids)], tries = 0; left.length > 0 && tries < MAX_TRIES; tries++) {
    const found = await ctx.db.run('deciding_suggestions', { ids: left });
    const fit = await Promise.all(found.map((row) => fitNow(ctx, row)));
    const fitting = found.filter((_, n) => fit[n]).map((row) => row.item_id);
    if (fitting.length > 0)
      decided += (await ctx.db.move('decide_suggested', { ids: fitting, tokens: fitting.map(newToken) })).length;
    left = found.filter((_, n) => !fit[n]).map((row) => row.item_id);
  }
  return decided;
}

async function fitNow(ctx: Context, { form, ...row }: RowOf<'deciding_suggestions'>): Promise<boolean> {
  if (!form) return true;
  const { item_id: id, model, queue: name, settings_version } = row;
  const isFit = await fits(ctx, { name, settings_version }, form, row.decision);
  await ctx.db.run('note_form', { id, model, formVersion: settings_version, fits: isFit });
  return isFit;
}

/** Figures of each model and mode over decided tickets of a queue. */
export const figures = ({ db }: Context, wanted: Omit<ParamsOf<'suggestion_figures'>, 'lines'>) =>
  db.lists.run('suggestion_figures', { ...wanted, lines: MOST_LINES });
