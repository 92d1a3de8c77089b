import type { Item } from '../../contract/items.ts';
import { only } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import { fitTicket, formQueueOf } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import * as rules from '../items/rules.ts';
import { checkAnswer } from '../shared/checks.ts';
import { type Context, Problem } from '../shared/service.ts';

interface Asked {
  cause: 'appeal' | 'check' | 'overturn';
  reason?: string | undefined;
  /** Who asks. */
  by: string;
  priority?: number | undefined;
  /** Of an overturn. */
  decision?: unknown;
}

export const ownDecision = (id: string) =>
  new Problem('forbidden', `ticket ${id} is a look at what this caller decided`);

/**
 * Asks for a second look at a decided ticket: a ticket that nobody who decided before is handed. Of a look, it is one at
 * what that is about. The same call again has the same look.
 * @returns the look, and whether this call has opened it
 * @throws Problem `not_found`, `erased`, `not_final`, `window_closed`, `already_open`, `forbidden`; 422 where an overturn's
 * decision does not fit the form
 */
export async function ask(ctx: Context, id: string, { cause, decision, ...how }: Asked, actor: string) {
  if (cause === 'overturn') await checkOverturn(ctx, id, decision);
  const given = cause === 'overturn' ? JSON.stringify(decision) : undefined;
  const asked = { kind: 'ticket', id, cause, decision: given, ...how, actor };
  const ids = (rows: { original: string | null; look_id: string | null }[]) => ({
    kind: 'ticket' as const,
    ids: rows.flatMap(({ original, look_id }) => [look_id, original].filter((one) => one !== null)),
  });
  const { answer, look_id } = only(await ctx.db.move('ask_for_look', asked, { moved: ids }));
  checkAnswer(answer);
  const look = only(await ctx.db.run('get_items', { kind: 'ticket', ids: [look_id ?? ''] }));
  const [settled = look] = await rules.settled(ctx, [look]);
  return { item: settled, created: answer === 'created' };
}

async function checkOverturn(ctx: Context, id: string, decision: unknown): Promise<void> {
  const item = await items.get(ctx, 'ticket', id);
  if (!item) return;
  await fitTicket(ctx, item, await queues.get(ctx, 'ticket', formQueueOf(item)), decision);
}

const openLook = ({ look }: Item) => look?.looks?.find(({ outcome }) => outcome === null);

const isBlind = async (ctx: Context, { queue }: Item): Promise<boolean> =>
  (await queues.get(ctx, 'ticket', queue))?.second?.blind ?? true;

/** Whether a person holds a look at this ticket, and may see what was decided first. */
export async function mayCompare(ctx: Context, item: Item, person: string): Promise<boolean> {
  const open = openLook(item);
  const [look] = open ? await ctx.db.run('open_looks', { ids: [open.id] }) : [];
  return look?.holder === person && !(await isBlind(ctx, item));
}

/**
 * Tickets with the states of their looks as they are now, without the first decision for whoever may be at a blind look.
 * @param person null: any; undefined: the caller is at none
 */
export async function current(ctx: Context, found: Item[], person?: string | null): Promise<Item[]> {
  const ids = found.flatMap((item) => openLook(item)?.id ?? []);
  if (ids.length === 0) return found;
  const open = new Map((await ctx.db.run('open_looks', { ids })).map((look) => [look.id, look]));
  return Promise.all(
    found.map(async (item) => {
      const entry = openLook(item);
      const look = entry && open.get(entry.id);
      if (!look) return item;
      const isTheirs = look.holder !== null && (person === null || person === look.holder);
      // what a model decided alone is hidden from all who may yet be handed the look
      const mayBeTheirs = isTheirs || (item.automation === 'full' && typeof person === 'string');
      if (mayBeTheirs && (await isBlind(ctx, item)))
        return { ...item, result: null, ended_by: null, ended_at: null, end_reason: null, look: null };
      const looks = item.look?.looks?.map((one) =>
        one === entry ? { ...one, state: stateWord('ticket', look.state) } : one,
      );
      return { ...item, look: { ...item.look, ...(looks && { looks }) } };
    }),
  );
}
