import type { Item, ShownTicket } from '../../contract/items.ts';
import { type Settlement, settleItems, settleNext } from '../../db/items.ts';
import { type Mover, only } from '../../db/pool.ts';
import { fitTicket, formQueueOf } from '../items/forms.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { share, sharePerGroup } from '../shared/batching.ts';
import { type Context, Problem, perContext } from '../shared/service.ts';
import { contentHash, isSettledBy, newToken } from '../shared/tokens.ts';
import { expected, noteSettings } from './expected.ts';
import { type Attempted, findAttempted, rejection } from './leases.ts';
import { decideSubjects } from './subjects.ts';
import { countHandOut, type Handed } from './tickets.ts';

interface Decision extends items.Hold {
  decision: unknown;
  /** Of the ticket as the decider saw it; left out: any. */
  version?: number;
  /** The decider's next ticket is asked for, with these skills. */
  next: boolean;
  skills: string[];
  /** Where to look for it, in order of preference; empty: in the ticket's queue. */
  queues: string[];
}

/** How often the queue's settings may change while a decision is checked against them. */
const MAX_TRIES = 5;

/** A decision that was made now; `synced`: how many others of its subject were decided with it. */
type Settled = { item: ShownTicket; next?: ShownTicket | undefined; synced: number };

/**
 * Decides a ticket that the caller holds. The same decision again has the same answer, the next ticket included: that
 * one is handed out by the commit that decides, so none is final, too.
 * @throws Problem `not_found`, `not_open`, `lease_lost`, `changed`, 422 where the decision doesn't fit the queue's form
 */
export async function decide(ctx: Context, wanted: Decision) {
  const { id, token, decision, subject, version: seen = null } = wanted;
  const hash = contentHash(decision);
  const result = JSON.stringify(decision);
  let { formVersion, syncs } = await expected(ctx, token, decision);
  for (let tries = 1; ; tries++) {
    const settlement = { id, token, result, hash, subject, formVersion, seen };
    const settled = await settle(ctx, settlement, wanted, syncs);
    if (settled) return { ...settled, next: settled.next ? handOut(ctx, settled.next) : null };
    const found = await findAttempted(ctx, id, token, subject);
    // also when the first call is still under way
    if (isRepeat(found, token, hash))
      return { item: found, next: await nextOf(ctx, found), synced: await countSynced(ctx, found) };
    const live = found.state === 'held' && found.lease_id === token;
    if (!live || tries > MAX_TRIES) throw await rejection(ctx, found, wanted, 'decide');
    if (seen !== null && found.content_version !== null && found.content_version > seen) throw changed(found);
    // with a live lease and what was seen, only the queue's settings are in the way; they may change meanwhile
    const queue = await queues.get(ctx, 'ticket', formQueueOf(found));
    noteSettings(ctx, queue);
    formVersion = await fitTicket(ctx, found, queue, decision);
    syncs = queue?.sync === 'subject' && !found.look;
  }
}

/** In a statement with those that come at the same time, unless others of its subject or other queues are about it. */
async function settle(
  ctx: Context,
  settlement: Settlement,
  { next, skills, queues }: Decision,
  syncs: boolean,
): Promise<Settled | undefined> {
  const { id } = settlement;
  if (syncs || (next && queues.length > 0))
    return ctx.db.transaction(async (tx) => {
      const end = (on: Mover) => settleItems(on, 'ticket', [settlement], syncs);
      const { ended, synced } = syncs ? await decideSubjects(tx, [id], end) : { ended: await end(tx), synced: 0 };
      const [item] = ended;
      if (!item) return undefined;
      const asked = { kind: 'ticket', id, token: newToken(), skills, queues };
      return { item, synced, next: next ? (await tx.move('claim_next', asked)).find(isHanded) : undefined };
    });
  if (next) return sharedBeats(ctx)(JSON.stringify(skills.toSorted()), { ...settlement, next: newToken() });
  const item = await items.settle(ctx, 'ticket', settlement);
  return item && { item, synced: 0 };
}

/** Decisions that ask for the next ticket, with the same skills. */
const sharedBeats = perContext(({ db }) =>
  sharePerGroup<Settlement & { next: string }, Settled | undefined>((skills) =>
    share(
      async (all) => {
        const rows = (await settleNext(db, 'ticket', all, JSON.parse(skills))).filter(isHanded);
        const [byId, byToken] = [
          new Map(rows.map((row) => [row.id, row])),
          new Map(rows.map((row) => [row.lease_id, row])),
        ];
        return all.map(({ id, next }) => {
          const item = byId.get(id);
          return item && { item, next: byToken.get(next), synced: 0 };
        });
      },
      { keys: ({ id, token }) => [`id/${id}`, token] },
    ),
  ),
);

/** Not what was due in the queue and was done first. */
const isHanded = (row: { advanced: boolean }) => !row.advanced;

const countSynced = async ({ db }: Context, { id, subject }: Item): Promise<number> =>
  subject === null ? 0 : only(await db.run('count_synced', { id, subject })).n;

function handOut(ctx: Context, item: ShownTicket): Handed {
  countHandOut(ctx, item);
  return { item, token: item.lease_id, isNew: true };
}

/** The ticket that a decision handed to its decider, who may have lost it since: its token is not for this caller then. */
async function nextOf(ctx: Context, { next_id: id, ended_by: decider }: Item): Promise<Handed | null> {
  const item = id === null ? undefined : await items.get(ctx, 'ticket', id);
  return item ? { item, token: item.holder === decider ? item.lease_id : null, isNew: false } : null;
}

export const changed = ({ id, version }: Item) =>
  new Problem('changed', `ticket ${id} has changed since it was seen, and is at version ${version}`, { version });

const isRepeat = (item: Attempted, token: string, hash: string) =>
  isSettledBy(item, token) &&
  item.result_hash !== null &&
  Buffer.compare(item.result_hash, Buffer.from(hash, 'hex')) === 0;
