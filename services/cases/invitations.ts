import type { Change } from '../../contract/items.ts';
import { only, type Receipt, type RowOf } from '../../db/pool.ts';
import { isQuiet, kindOf } from '../../domain/kinds.ts';
import { isItem } from '../../runtime/commits.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { pagesOf } from '../shared/batching.ts';
import { background, type Context, isInvalidArgument, perContext } from '../shared/service.ts';
import { newToken } from '../shared/tokens.ts';
import { movedCases } from './adding.ts';

const BATCH = 50;
const STARTS_AT_ONCE = 8;
const START_MS = 5_000;
const RETRY_MS = 100;
const GATHER_MS = 20;
/** After this number of cases in a row without a juror, the rest would find none either. */
const MAX_FRUITLESS = 20;
/** Jurors invited to one case at once; if it lacks more, the next round invites them. */
const MOST_INVITED = 100;

// Jurors who have become free are invited to cases that lack jurors, and the deliveries of invitations are started.
// This work is recorded in rows, in the transaction that causes it, so that another process does it if this one dies.

const LANES = [inviteFreed, inviteForCourts, startDeliveries].map((work) =>
  background(work, 'invitations are delayed, trying again'),
);
const timers = perContext(() => ({ next: undefined as NodeJS.Timeout | undefined }));

/** Looks for work where a commit changed a case. */
export function follow(ctx: Context, changes: Change[]): void {
  if (changes.some((row) => isItem(row) && kindOf(row.kind).court && !isQuiet(row))) look(ctx);
}

/** Looks for work soon; also a maintenance chore. Calls within 20 ms are combined, because most votes free no juror who is needed. */
export function look(ctx: Context): void {
  const timer = timers(ctx);
  timer.next ??= setTimeout(() => {
    timer.next = undefined;
    for (const lane of LANES) lane.look(ctx);
  }, GATHER_MS).unref();
}

export async function stop(ctx: Context): Promise<void> {
  await Promise.all(LANES.map((lane) => lane.stop(ctx)));
}

/** Invites jurors to a case that lacks some (S2.1). @returns the number of jurors invited */
export async function invite({ db }: Context, id: string, receipt?: Receipt): Promise<number> {
  const tokens = Array.from({ length: MOST_INVITED }, newToken);
  const moved = movedCases(({ n }: { n: number }) => (n > 0 ? id : null));
  return only(await db.move('invite_jurors', { id, tokens }, { ...receipt, moved })).n;
}

/** A juror's open invitations, newest first, those before the token `before`. */
export const ofJuror = ({ db }: Context, juror: string, before: string | undefined, limit: number) =>
  db.lists.run('invitations', { juror, before, limit });

async function inviteFreed(ctx: Context, signal: AbortSignal): Promise<void> {
  const { db } = ctx;
  const moved = movedCases(({ id }: { id: string | null }) => id);
  for (;;) {
    const freed = await db.run('freed_jurors', { limit: BATCH });
    let busy = false;
    for (const { seq } of freed) {
      if (signal.aborted) return;
      const { id } = only(await db.move('invite_freed', { seq, token: newToken() }, { moved }));
      if (id === '') busy = true;
    }
    if (busy) setTimeout(() => look(ctx), RETRY_MS).unref();
    if (busy || freed.length < BATCH) return;
  }
}

/** Goes through the cases that lack jurors, in courts of which any juror may have become free. */
async function inviteForCourts(ctx: Context, signal: AbortSignal): Promise<void> {
  const { db } = ctx;
  for (const { court, seq } of await db.run('take_freed_courts')) {
    await inviteForCourt(ctx, court, signal);
    if (!signal.aborted) await db.run('freed_court_done', { court, seq });
  }
}

async function inviteForCourt(ctx: Context, court: string, signal: AbortSignal): Promise<void> {
  const cases = pagesOf<RowOf<'inviting_cases'>>((last) =>
    ctx.db.run('inviting_cases', { court, afterRank: last?.rank, afterSeq: last?.seq, limit: BATCH }),
  );
  let fruitless = 0;
  for await (const batch of cases)
    for (const { id } of batch) {
      if (fruitless === MAX_FRUITLESS || signal.aborted) return;
      fruitless = (await invite(ctx, id)) > 0 ? 0 : fruitless + 1;
    }
}

/** @throws Error while Temporal cannot be reached, or of a delivery that it rejects and that is tried again later */
async function startDeliveries(ctx: Context, signal: AbortSignal): Promise<void> {
  let rejected: unknown;
  for (;;) {
    const batch = await ctx.db.run('deliveries_to_start', { limit: STARTS_AT_ONCE });
    if (batch.length === 0 || signal.aborted) break;
    const failures = (await Promise.all(batch.map((delivery) => startOne(ctx, delivery)))).filter(Boolean);
    const unreachable = failures.find((error) => !isInvalidArgument(error));
    if (unreachable) throw unreachable;
    rejected ??= failures[0];
  }
  if (rejected) throw rejected;
}

/** @returns the error when it could not be started: it is then tried again later, after others */
async function startOne(
  { db, client }: Context,
  { kind, item_id: id, n }: RowOf<'deliveries_to_start'>,
): Promise<unknown> {
  try {
    await client.withDeadline(Date.now() + START_MS, () => startDelivery(client, kind, id, n, 'USE_EXISTING'));
  } catch (error) {
    await db.run('start_delivery_later', { kind, id, n });
    return error;
  }
  await db.run('delivery_started', { kind, id, n });
  return undefined;
}
