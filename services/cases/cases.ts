import type { NewCase as Content } from '../../contract/cases.ts';
import type { CaseItem, Item } from '../../contract/items.ts';
import type { Mover, RowOf } from '../../db/pool.ts';
import type { Looks, Sight } from '../../domain/cases.ts';
import { verdictOf } from '../../domain/courts.ts';
import * as items from '../items/items.ts';
import { share } from '../shared/batching.ts';
import type { Context } from '../shared/context.ts';
import { addOnce } from '../shared/problems.ts';
import { contentHash } from '../shared/tokens.ts';
import { addCases, type NewCase } from './adding.ts';
import type { Court, CourtService } from './courts.ts';
import { escalateHung } from './escalation.ts';
import { caseNotFound, type JudgingService, judgingService, rejected } from './judging.ts';

interface CaseFilter {
  court: string | undefined;
  /** A state of the core. */
  state: string | undefined;
  before: { createdAt: string; seq: number } | undefined;
}

/** What is done with cases (S2). */
export interface CaseService extends JudgingService {
  /**
   * Adds a case, together with those that come at the same time.
   * @throws Problem `id_conflict` when the id stands for other content
   */
  add(court: Court, content: Content, id: string, actor: string): Promise<{ item: Pick<Item, 'id'>; created: boolean }>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<CaseItem>;
  /** Newest first, without gold. */
  list(filter: CaseFilter, limit: number): Promise<CaseItem[]>;
  /** Newest first, those before the number `before`. @throws Problem `not_found` */
  votes(id: string, before: number | undefined, limit: number): Promise<RowOf<'case_votes'>[]>;
  /** What a juror, or the holder of the token, has to do with a case, and what their view of it depends on. */
  sight(item: CaseItem, who: { juror?: string | null; token?: string }): Promise<[Sight, Looks] | undefined>;
  /** Ends an open case without a winner; a repeated call has the same answer. @throws Problem `not_found`, `not_open` */
  invalidate(id: string, reason: string, actor: string): Promise<CaseItem>;
  /** Takes a hung case where its court wants it; see services/cases/escalation.ts. */
  escalate(item: CaseItem): Promise<void>;
}

export function caseService(ctx: Context, courts: CourtService): CaseService {
  const { db, secrets } = ctx;
  const addTogether = share<NewCase, Item | undefined>(
    async (cases) => {
      const added = new Map((await addCases(db, cases)).map((item) => [item.id, item]));
      return cases.map(({ id }) => added.get(id));
    },
    { keys: ({ id }) => [id] },
  );
  const get = async (id: string) => {
    const [item] = await db.run('get_cases', { ids: [id] });
    if (!item) throw caseNotFound(id);
    return item;
  };

  return {
    async add(court, { parties, body, deadlineSeconds = null, callback = null }, id, actor) {
      const content = { parties, body, deadlineSeconds, callback };
      const hash = contentHash({ court: court.name, ...content });
      const added = await addOnce(
        { what: 'case', id, hash },
        () => addTogether({ id, court, ...content, callback: secrets.seal(callback), gold: null, hash, actor }),
        () => items.get(ctx, 'case', id),
      );
      if (added.created) ctx.tracing?.saw('case', id);
      return added;
    },
    ...judgingService(ctx, courts),
    get,
    list: ({ before, ...filter }, limit) =>
      db.lists.run('list_cases', { ...filter, beforeCreatedAt: before?.createdAt, beforeSeq: before?.seq, limit }),
    async votes(id, before, limit) {
      await get(id);
      return db.lists.run('case_votes', { id, before, limit });
    },
    async sight({ id, queue }, who) {
      const [sight] = await db.run('case_sight', { id, ...who });
      if (!sight) return undefined;
      const court = await courts.get(queue);
      const { deadline_seconds: deadlineSeconds, created_at: courtSince } = court;
      return [sight, { judge: (tally) => verdictOf(court, tally, 0), deadlineSeconds, courtSince }];
    },
    async invalidate(id, reason, actor) {
      const closed = await closeCases(db, [id], reason, actor);
      const item = await get(id);
      const same = item.state === 'invalidated' && item.ended_by === actor && item.end_reason === reason;
      if (closed.length === 0 && !same) throw await rejected(db, { id }, 'not_open');
      return item;
    },
    escalate: (item) => escalateHung(ctx, item),
  };
}

/** @returns the ids that were open */
export async function closeCases(db: Mover, ids: string[], reason: string, actor: string): Promise<string[]> {
  const idsOf = (rows: { id: string }[]) => rows.map((row) => row.id);
  return idsOf(
    await db.move('close_cases', { ids, reason, actor }, { moved: (rows) => ({ kind: 'case', ids: idsOf(rows) }) }),
  );
}
