import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Driven } from '../../contract/snapshot.ts';
import { type Db, only, type RowOf } from '../../db/pool.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { syncSchedule } from '../jobs/schedules.ts';
import { background, type Context, isInvalidArgument, perContext } from '../shared/service.ts';

const TIMEOUT_MS = 2_000;
const BATCH = 1_000;
/** Rows put back per second. */
const RATE = 5_000;
/** Well below the number that a follower keeps in memory, so that urgent rows are not delayed. */
const MOST_UNPUBLISHED = 5_000;
const CROWDED_MS = 1_000;
const CONTENDED_MS = 200;
const RESYNC_BATCH = 50;

/** Temporal's and PostgreSQL's stores at the last round. */
const known = perContext(() => ({ store: undefined as string | undefined }));

/**
 * Reconciliation, which brings Temporal to the state of PostgreSQL when one of their stores was lost, replaced or
 * restored. A maintenance chore: each time it asks for Temporal's store, which is its only cost otherwise. For a store that
 * this database has not seen, and when PostgreSQL came back in an older state, all rows that need something in Temporal are
 * put into `unpublished` and `resync`, in batches that all processes share.
 */
export const { look, stop } = background(round, 'reconciliation with Temporal failed, trying again');
/** The pass over all rows goes on beside the rounds: with a million open items it takes hours. */
export const passes = background(({ db }, signal) => walk(db, signal), 'rows could not be put back, trying again');

async function round(ctx: Context, signal: AbortSignal): Promise<void> {
  const { db, client, log } = ctx;
  const namespace = await storeOf(client);
  if (namespace === undefined) return;
  const { done, timeline } = only(await db.run('is_reconciled'));
  const store = `${namespace}/${timeline}`;
  await db.run('use_store', { node: ctx.node, store });
  // only when it changes under this process: two namespaces on one database must not take turns
  const noticed = store === known(ctx).store ? undefined : (await db.run('notice_store', { store }))[0];
  if (noticed && !noticed.first)
    log.warn({ store }, 'Temporal or PostgreSQL is not the store that it was: what needs a workflow is put back');
  known(ctx).store = store;
  if (noticed || !done) passes.look(ctx);
  await resync(ctx, signal);
}

async function resync(ctx: Context, signal: AbortSignal): Promise<void> {
  const { db } = ctx;
  for (;;) {
    const rows = await db.run('take_resync', { limit: RESYNC_BATCH });
    for (const row of rows) {
      if (signal.aborted) return;
      if (await bringToTemporal(ctx, row)) await db.run('unmark_resync', { ids: [row.id] });
    }
    if (rows.length < RESYNC_BATCH) return;
  }
}

/**
 * @returns false when Temporal rejects this one, which must not hold up the others
 * @throws Error when Temporal cannot be reached
 */
async function bringToTemporal(ctx: Context, { what, parent, name, n }: RowOf<'take_resync'>): Promise<boolean> {
  const { client, log } = ctx;
  try {
    if (what === 'schedule') await syncSchedule(ctx, parent, name);
    else
      await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
        startDelivery(client, parent as Driven, name, n, 'USE_EXISTING'),
      );
    return true;
  } catch (error) {
    if (!(error instanceof TypeError || isInvalidArgument(error))) throw error;
    log.error(
      { what, parent, name, err: (error as Error).message },
      `Temporal refuses this ${what}, trying again later`,
    );
    return false;
  }
}

/** What Temporal says of its namespace; undefined while it cannot be asked. */
function describeNamespace(client: Client) {
  const { namespace } = client.options;
  const ask = () => client.workflowService.describeNamespace({ namespace });
  return client.withDeadline(Date.now() + TIMEOUT_MS, ask).catch(() => undefined);
}

/** How long Temporal keeps closed workflows; undefined while it cannot be asked. */
export async function retentionSeconds(client: Client): Promise<number | undefined> {
  const seconds = (await describeNamespace(client))?.config?.workflowExecutionRetentionTtl?.seconds;
  return seconds == null ? undefined : Number(seconds);
}

/** The id that Temporal gave its namespace when it was created; undefined while it cannot be asked. */
export const storeOf = async (client: Client): Promise<string | undefined> =>
  (await describeNamespace(client))?.namespaceInfo?.id || undefined;

/** Begins a pass over all rows, even where Temporal's store is known. */
export const restart = (db: Db) => db.run('restart_reconciliation');

/**
 * Takes part in the pass over all rows until it is complete, at a bounded rate.
 * @param onBatch receives the stage and the number of rows put back; null: the pass waits for rows to be published
 */
export async function walk(
  db: Db,
  signal?: AbortSignal,
  onBatch: (stage: string, put: number | null) => void = () => {},
): Promise<void> {
  while (!signal?.aborted) {
    const [batch] = await db.run('put_back', { limit: BATCH, most: MOST_UNPUBLISHED });
    if (!batch) {
      if (only(await db.run('is_reconciled')).done) return;
      await sleep(CONTENDED_MS, undefined, { signal });
      continue;
    }
    onBatch(batch.stage, batch.put);
    const ms = batch.put === null ? CROWDED_MS : (batch.put / RATE) * 1_000;
    if (ms > 0) await sleep(ms, undefined, { signal });
  }
}
