import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Driven } from '../../contract/snapshot.ts';
import { type Db, only, type RowOf } from '../../db/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { syncSchedule } from '../jobs/schedules.ts';
import { isInvalidArgument } from '../shared/problems.ts';

const ROUND_MS = 5_000;
const TIMEOUT_MS = 2_000;
const BATCH = 1_000;
/** Rows put back per second. */
const RATE = 5_000;
/** Well below what a follower keeps in memory, so that what is urgent is not behind what only waits. */
const MOST_UNPUBLISHED = 5_000;
const CROWDED_MS = 1_000;
const CONTENDED_MS = 200;
const RESYNC_BATCH = 50;

/**
 * Brings Temporal to what PostgreSQL says when its store was lost, replaced or restored: asks every 5 s which store it
 * is, which is all that it costs otherwise. For one that this database has not seen, and when PostgreSQL itself came back
 * in an older state, all rows that need something in Temporal are put into `unpublished` and `resync`, in batches that all
 * processes share.
 */
export class Reconciler {
  readonly #o: Pick<Runtime, 'db' | 'client' | 'log'>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #walking: Promise<void> | undefined;
  /** The stores as this process saw them last. */
  #store: string | undefined;
  readonly #stopping = new AbortController();

  constructor(options: Pick<Runtime, 'db' | 'client' | 'log'>) {
    this.#o = options;
  }

  start(): void {
    this.#running = this.#round().finally(() => {
      if (this.#stopping.signal.aborted) return;
      this.#timer = setTimeout(() => this.start(), ROUND_MS).unref();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await this.#walking;
  }

  async #round(): Promise<void> {
    const { db, client, log } = this.#o;
    try {
      const namespace = await storeOf(client);
      if (namespace === undefined) return;
      const { done, timeline } = only(await db.run('is_reconciled'));
      const store = `${namespace}/${timeline}`;
      // only what changes under this process: two namespaces on one database must not take turns
      const noticed = store === this.#store ? undefined : (await db.run('notice_store', { store }))[0];
      if (noticed && !noticed.first)
        log.warn({ store }, 'Temporal or PostgreSQL is not the store that it was: what needs a workflow is put back');
      this.#store = store;
      if (noticed || !done)
        this.#walking ??= this.#walk().finally(() => {
          this.#walking = undefined;
        });
      await this.#resync();
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'reconciliation with Temporal failed, trying again');
    }
  }

  /** Beside the rounds: with a million open items it takes hours. */
  async #walk(): Promise<void> {
    try {
      await walk(this.#o.db, this.#stopping.signal);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#o.log.warn({ err: (error as Error).message }, 'rows could not be put back, trying again');
    }
  }

  async #resync(): Promise<void> {
    const { db } = this.#o;
    for (;;) {
      const rows = await db.run('take_resync', { limit: RESYNC_BATCH });
      for (const row of rows) {
        if (this.#stopping.signal.aborted) return;
        if (await this.#bringTo(row)) await db.run('unmark_resync', { ids: [row.id] });
      }
      if (rows.length < RESYNC_BATCH) return;
    }
  }

  /**
   * @returns false: Temporal refuses this one, which must not hold up the others
   * @throws when Temporal cannot be reached
   */
  async #bringTo({ what, parent, name, n }: RowOf<'take_resync'>): Promise<boolean> {
    const { db, client, log } = this.#o;
    try {
      if (what === 'schedule') await syncSchedule({ db, client }, parent, name);
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
}

/** The id of the namespace, which Temporal gives it when it is made; undefined: it cannot be asked now. */
export async function storeOf(client: Client): Promise<string | undefined> {
  const { namespace } = client.options;
  const ask = client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  const answer = await ask.catch(() => undefined);
  return answer?.namespaceInfo?.id || undefined;
}

/** Begins a pass over all rows, whatever is known of Temporal's store. */
export const restart = (db: Db) => db.run('restart_reconciliation');

/**
 * Takes part in the pass over all rows until it is complete, at a bounded rate.
 * @param onBatch is given the stage, and how many rows were put back; null: it waits for others to be published
 */
export async function walk(
  db: Db,
  signal?: AbortSignal,
  onBatch: (stage: string, put: number | null) => void = () => {},
): Promise<void> {
  while (!signal?.aborted) {
    const [batch] = await db.run('put_back', { limit: BATCH, most: MOST_UNPUBLISHED });
    if (!batch) {
      if (await isReconciled(db)) return;
      await sleep(CONTENDED_MS, undefined, { signal });
      continue;
    }
    onBatch(batch.stage, batch.put);
    const ms = batch.put === null ? CROWDED_MS : (batch.put / RATE) * 1_000;
    if (ms > 0) await sleep(ms, undefined, { signal });
  }
}

const isReconciled = async (db: Db) => (await db.run('is_reconciled'))[0]?.done ?? true;
