import type { Awaited, Outcome } from '../../contract/snapshot.ts';
import { briefly, outcomeMessage } from '../../domain/callbacks.ts';
import { stateWord } from '../../domain/items.ts';
import type { Context } from '../shared/service.ts';
import * as outcomes from './outcomes.ts';

const CLEARED: Outcome = { state: 'cleared' };

/** Keeps a wait for the end of an item (B.1). @returns how it ended where it is over already; else null */
export async function keep(ctx: Context, workflowId: string, awaited: Awaited): Promise<Outcome | null> {
  const { kind, id, run } = awaited;
  const [kept] = await ctx.db.run('keep_wait', { workflowId, kind, id, run });
  return kept ? null : outcomeOf(ctx, awaited);
}

/** How an item ended; null: it is open. Of one that is not there any more nothing is known. */
async function outcomeOf(ctx: Context, { kind, id, run }: Awaited): Promise<Outcome | null> {
  const item = await outcomes.read(ctx, kind, id);
  if (item && item.run > run) return (await ctx.db.run('run_state', { id, run }))[0] ?? CLEARED;
  if (!item) return CLEARED;
  if (item.ended_at === null) return null;
  const state = stateWord(kind, item.state);
  if (kind === 'job') return { state };
  const { version, ...message }: Record<string, unknown> = briefly(outcomeMessage(item, []));
  const { id: _, ...told } = message[kind] as Record<string, unknown>;
  return { ...told, state, version, ...(item.erased && { reason: 'erased' }) };
}

/** The outcome for the workflow that waits for it, which answers with it; null: it waits on. */
export async function read(ctx: Context, workflowId: string, awaited: Awaited): Promise<Outcome | null> {
  const outcome = await outcomeOf(ctx, awaited);
  if (outcome) await ctx.db.run('answer_wait', { workflowId });
  return outcome;
}

/** The caller of this workflow waits no more. */
export const forget = ({ db }: Context, workflowId: string) => db.run('forget_wait', { workflowId });
