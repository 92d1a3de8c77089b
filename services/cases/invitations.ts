import { only, type Receipt, type RowOf } from '../../db/pool.ts';
import { isQuiet, kindOf } from '../../domain/kinds.ts';
import { isItem } from '../../runtime/commits.ts';
import { Repeating } from '../../runtime/repeating.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { startDelivery } from '../deliveries/deliveries.ts';
import { isInvalidArgument } from '../shared/problems.ts';
import { newToken } from '../shared/tokens.ts';

const BATCH = 50;
const STARTS_AT_ONCE = 8;
const START_MS = 5_000;
const RETRY_MS = 100;
const GATHER_MS = 20;
/** After so many cases in a row without a juror, the rest would find none either. */
const MAX_FRUITLESS = 20;
/** Jurors whom one case is given at once; it may lack more, which the next round invites. */
const MOST_INVITED = 100;

/**
 * Invites jurors who have become free to cases that lack some, and starts the deliveries of invitations. What there is
 * to do are rows, written with the change that caused them, so that another process does it if this one dies.
 */
export class Invitations {
  readonly #o: Pick<Runtime, 'db' | 'client'>;
  readonly #persons: Repeating;
  readonly #courts: Repeating;
  readonly #starts: Repeating;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(runtime: Runtime) {
    this.#o = runtime;
    const failed = (error: Error) => runtime.log.warn({ err: error.message }, 'invitations are delayed, trying again');
    this.#persons = new Repeating(() => this.#invitePersons(), failed);
    this.#courts = new Repeating(() => this.#inviteForCourts(), failed);
    this.#starts = new Repeating(() => this.#startDeliveries(), failed);
    runtime.db.onCommit((changes) => {
      if (changes.some((row) => isItem(row) && kindOf(row.kind).court && !isQuiet(row))) this.look();
    });
    runtime.maintenance.add(() => this.look());
  }

  /** There may be something to do. Calls within some milliseconds are one look: most votes free no juror who is needed. */
  look(): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const lane of [this.#persons, this.#courts, this.#starts]) lane.run();
    }, GATHER_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#persons.stop(), this.#courts.stop(), this.#starts.stop()]);
  }

  /**
   * Invites jurors whom a case lacks (S2.1).
   * @returns how many
   */
  async invite(id: string, receipt?: Receipt): Promise<number> {
    const tokens = Array.from({ length: MOST_INVITED }, newToken);
    const moved = ([row]: { n: number }[]) => ({ kind: 'case' as const, ids: row && row.n > 0 ? [id] : [] });
    return only(await this.#o.db.move('invite_jurors', { id, tokens }, { ...receipt, moved })).n;
  }

  /** A juror's open invitations, newest first, those before the token `before`. */
  ofJuror(juror: string, before: string | undefined, limit: number): Promise<RowOf<'invitations'>[]> {
    return this.#o.db.lists.run('invitations', { juror, before, limit });
  }

  async #invitePersons(): Promise<void> {
    const { db } = this.#o;
    const freed = await db.run('freed_jurors', { limit: BATCH });
    const moved = ([row]: { id: string | null }[]) => ({ kind: 'case' as const, ids: row?.id ? [row.id] : [] });
    let busy = false;
    for (const { seq } of freed) {
      if (this.#stopped) return;
      const { id } = only(await db.move('invite_freed', { seq, token: newToken() }, { moved }));
      if (id === '') busy = true;
    }
    if (busy) setTimeout(() => this.look(), RETRY_MS).unref();
    else if (freed.length === BATCH) this.#persons.run();
  }

  /** Any juror may be free: goes through the cases that lack some. */
  async #inviteForCourts(): Promise<void> {
    const { db } = this.#o;
    for (const { court, seq } of await db.run('take_freed_courts')) {
      let fruitless = 0;
      for (let last: RowOf<'inviting_cases'> | undefined; fruitless < MAX_FRUITLESS; ) {
        const after = { afterRank: last?.rank, afterSeq: last?.seq };
        const batch = await db.run('inviting_cases', { court, ...after, limit: BATCH });
        last = batch.at(-1);
        if (!last || this.#stopped) break;
        for (const { id } of batch) {
          fruitless = (await this.invite(id)) > 0 ? 0 : fruitless + 1;
          if (fruitless === MAX_FRUITLESS || this.#stopped) break;
        }
      }
      if (!this.#stopped) await db.run('freed_court_done', { court, seq });
    }
  }

  async #startDeliveries(): Promise<void> {
    const { db } = this.#o;
    let refused: unknown;
    for (;;) {
      const batch = await db.run('deliveries_to_start', { limit: STARTS_AT_ONCE });
      if (batch.length === 0 || this.#stopped) break;
      const failures = (await Promise.all(batch.map((delivery) => this.#start(delivery)))).filter(Boolean);
      const away = failures.find((error) => !isInvalidArgument(error));
      if (away) throw away;
      refused ??= failures[0];
    }
    if (refused) throw refused;
  }

  /** @returns why it could not be started: it is tried again later, behind others */
  async #start({ kind, item_id: id, n }: RowOf<'deliveries_to_start'>): Promise<unknown> {
    const { db, client } = this.#o;
    try {
      await client.withDeadline(Date.now() + START_MS, () => startDelivery(client, kind, id, n, 'USE_EXISTING'));
    } catch (error) {
      await db.run('start_delivery_later', { kind, id, n });
      return error;
    }
    await db.run('delivery_started', { kind, id, n });
    return undefined;
  }
}
