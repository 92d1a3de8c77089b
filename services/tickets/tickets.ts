import type { Item, ShownTicket } from '../../contract/items.ts';
import type { NewTicket } from '../../contract/tickets.ts';
import type { NewItem } from '../../db/items.ts';
import { columnsOf, only, type RowOf } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import { asWaiting } from '../../domain/tickets.ts';
import { waitedSeconds } from '../../runtime/metrics.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as items from '../items/items.ts';
import * as queues from '../items/queues.ts';
import { sharePerGroup, shareRows } from '../shared/batching.ts';
import { type Context, found, Problem, perContext } from '../shared/service.ts';
import { addEach, added, met, one } from '../shared/sets.ts';
import { contentHash, newId, newToken } from '../shared/tokens.ts';
import { noteLease } from './expected.ts';
import * as looks from './looks.ts';

/** A ticket that a claim or a decision hands to its caller. */
export interface Handed {
  item: ShownTicket;
  /** Of the lease, if it is the caller's. */
  token: string | null;
  /** Not handed out before. */
  isNew: boolean;
  /** What its holder has filled in of the decision. */
  draft?: unknown;
}

interface ClaimRequest {
  /** In order of preference. */
  queues: string[];
  reviewer: string;
  skills: string[];
  count: number;
  waitSeconds: number;
  /** Fires when the caller has gone. */
  signal: Gone;
}

type Claimed = RowOf<'claim'>;

/** Why a claim came back empty, each cause counted up to 1,000 (S0.5). */
type Reasons = Record<(typeof REASONS)[number], number>;

const MAX_RETRY_SECONDS = 60;
const DEFAULT_RETRY_SECONDS = 5;

/**
 * Adds tickets as a set: the same id with the same content is the existing ticket (S0.9).
 * @param insert of `items`: which rows are answered
 * @returns for each what came of it, or Problem `id_conflict` when the id stands for other content, as it was first sent
 */
export function addAll<Row extends { id: string }>(
  ctx: Context,
  queue: string,
  tickets: NewTicket[],
  actor: string,
  insert: (ctx: Context, kind: 'ticket', items: NewItem[]) => Promise<(Row | Error | undefined)[]>,
) {
  const rows = tickets.map((ticket) => {
    const content = contentOf(queue, ticket);
    const { id = newId() } = ticket;
    return { id, hash: contentHash(content), actor, ...content, callback: ctx.secrets.seal(content.callback) };
  });
  const add = added((some: typeof rows) => insert(ctx, 'ticket', some));
  const find = met('ticket', (ids) => ctx.db.run('get_items', { kind: 'ticket', ids }));
  // a queue comes with its first ticket, not with one that is rejected
  const ensure = (some: typeof rows) => queues.ensureEach(ctx, 'ticket', some);
  const ways = queues.isKnown(ctx, 'ticket', queue) ? [add, find] : [find, ensure, add];
  return addEach<(typeof rows)[number], { item: Row | Item; created: boolean }>('ticket', rows, ways);
}

/** Adds one. @param id left out: the ticket's own, or a new one @throws what `addAll` returns */
export const add = async (ctx: Context, queue: string, ticket: NewTicket, actor: string, id = ticket.id) =>
  one(await addAll(ctx, queue, [id === undefined ? ticket : { ...ticket, id }], actor, items.addWhole));

const contentOf = (queue: string, ticket: NewTicket) => ({
  queue,
  priority: ticket.priority,
  body: ticket.body,
  // these are left out where there are none, so that the hash of tickets without them stays
  ...(ticket.subject != null && { subject: ticket.subject }),
  ...(ticket.category != null && { category: ticket.category }),
  ...(ticket.for != null && { for: ticket.for, forSeconds: ticket.forSeconds ?? null }),
  requires: ticket.requires,
  exclude: ticket.exclude,
  callback: ticket.callback ?? null,
  delaySeconds: ticket.delaySeconds,
  deadlineSeconds: ticket.deadlineSeconds ?? null,
  createdAt: ticket.createdAt ?? null,
});

/** @throws Problem `not_found` */
export const find = async ({ db }: Context, id: string): Promise<Item> =>
  found(await db.run('get_items', { kind: 'ticket', ids: [id] }), `there is no ticket ${id}`);

/**
 * The ticket, if this person may know of it: whoever holds it, was handed it or decided it. To anyone else it is as an
 * unknown one, so that no reviewer learns who decides about them.
 * @param person a reviewer's key's; null: any
 * @throws Problem `not_found`
 */
export async function findKnown(ctx: Context, id: string, person: string | null): Promise<Item> {
  const item = await find(ctx, id);
  const { kind, holder, ended_by: endedBy } = item;
  if (person === null) return item;
  if (person === holder || person === endedBy) return asWaiting(item);
  if ((await ctx.db.run('was_handed', { kind, id, person })).length > 0) return asWaiting(item);
  if (await looks.mayCompare(ctx, item, person)) return item;
  throw unknown(id);
}

const unknown = (id: string) => new Problem('not_found', `there is no ticket ${id}`);

/**
 * Hands out what the reviewer holds in the queues, then the best new tickets of each in turn; waits for one if asked to
 * (S0.3, S0.6, S0.8).
 * @returns `reasons`: null where something was handed out
 */
export async function claim(ctx: Context, request: ClaimRequest) {
  const { queues: names, waitSeconds: seconds, signal } = request;
  const keys = () => names.map((name) => `ticket/${name}`);
  const handed = await ctx.waiters.waitFor({ keys, seconds, signal }, async () => {
    const taken = await take(ctx, request);
    return taken.length > 0 ? taken : undefined;
  });
  if (!handed) return emptyHanded(ctx, request);
  if (signal.aborted) await giveBack(ctx, handed);
  else for (const { item, isNew } of handed) if (isNew) countHandOut(ctx, item);
  return { handed, reasons: null, retryAfterSeconds: 0 };
}

async function take(ctx: Context, { queues, reviewer, skills, count }: ClaimRequest): Promise<Handed[]> {
  const token = newToken();
  const [queue = '', ...others] = queues;
  if (others.length === 0 && count === 1) {
    const group = JSON.stringify([queue, ...skills.toSorted()]);
    const item = await sharedClaims(ctx)(group, { person: reviewer, token });
    return item ? [{ item, token: item.lease_id, isNew: item.lease_id === token }] : [];
  }
  const tokens = [token, ...Array.from({ length: count - 1 }, newToken)];
  const asked = { queues, person: reviewer, tokens, skills };
  const rows = await ctx.db.move('claim_from', asked, { moved: granted(tokens) });
  // what is held comes first and in the order of the claims; new ones follow in the order of the queue,
  // which is that of their tokens: the update that grants them returns them in any order
  const orderOf = (item: ShownTicket) => tokens.indexOf(item.lease_id ?? '');
  return rows
    .filter((row) => !row.advanced)
    .toSorted((a, b) => orderOf(a) - orderOf(b))
    .map((item) => ({ item, token: item.lease_id, isNew: orderOf(item) >= 0 }))
    .slice(0, count);
}

/** Claims of one ticket share a statement with those of the same queue and skills that come at the same time. */
const sharedClaims = perContext((ctx) =>
  sharePerGroup<{ person: string; token: string }, ShownTicket | undefined>((group) => {
    const [queue, ...skills]: [string, ...string[]] = JSON.parse(group);
    return shareRows(
      async (all) => {
        const { persons, tokens } = columnsOf(all, { persons: 'person', tokens: 'token' });
        // of several tickets that a person holds, the first one counts
        const asked = { kind: 'ticket', queue, persons, tokens, count: 1, skills, resume: true };
        const rows = await ctx.db.move('claim', asked, { moved: granted(tokens) });
        return rows.filter((row) => !row.advanced).toReversed();
      },
      { call: ({ person }) => person, row: ({ holder }) => holder, keys: ({ person }) => [person] },
    );
  }),
);

/** What was due first, and the rows with these tokens. Others were held before: they are resumed, and have not moved. */
const granted = (tokens: string[]) => {
  const given = new Set<string | null>(tokens);
  return (rows: Claimed[]) => rows.filter((row) => row.advanced || given.has(row.lease_id));
};

/** Counts a ticket that was not handed out before. */
export function countHandOut(ctx: Context, item: ShownTicket): void {
  const { metrics, tracing } = ctx;
  noteLease(ctx, item);
  if (!item.look?.gold) metrics.handedOut('ticket', item.queue, waitedSeconds(item));
  tracing?.saw('ticket', item.id);
}

/** Hands back new tickets: an answer that can't be written to a closed connection is no hand-out. */
async function giveBack({ db }: Context, handed: Handed[]): Promise<void> {
  for (const { item, token, isNew } of handed) {
    if (!isNew || item.holder === null) continue;
    const reason = 'the caller was gone';
    const release = { kind: 'ticket', id: item.id, token, actor: item.holder, reason };
    await db.move('release_item', { ...release, delaySeconds: 0, skip: false, undelivered: true });
  }
}

/** What is about the queue or all of the reviewer's work goes before what is about single tickets. */
const REASONS = [
  ...(['paused', 'notRegistered', 'away', 'quota', 'maxHeld', 'exposure', 'skills', 'excluded', 'skipped'] as const),
  ...(['forAnother', 'held', 'delayed'] as const),
];
const firstReason = (reasons: Reasons) => REASONS.find((name) => reasons[name] > 0) ?? 'none';

async function emptyHanded(ctx: Context, { queues, reviewer, skills, signal }: ClaimRequest) {
  const found = await reasonsFor(ctx, queues, reviewer, skills);
  if (!signal.aborted) for (const { queue, reasons } of found) ctx.metrics.empty('ticket', queue, firstReason(reasons));
  const sum = (name: keyof Reasons) => found.reduce((n, { reasons }) => n + reasons[name], 0);
  const reasons = Object.fromEntries(REASONS.map((name) => [name, sum(name)])) as Reasons;
  return { handed: [], reasons, retryAfterSeconds: Math.min(...found.map((of) => of.retryAfterSeconds)) };
}

/** Of each queue, in no order. */
async function reasonsFor({ db }: Context, queues: string[], person: string, skills: string[]) {
  const rows = await db.run('claim_reasons', { kind: 'ticket', queues, person, skills });
  return rows.map(({ queue, retry_after, max_held, not_registered, for_another, ...rest }) => {
    const counts = { ...rest, maxHeld: max_held, notRegistered: not_registered, forAnother: for_another };
    const retry = retry_after === null ? DEFAULT_RETRY_SECONDS : Math.ceil(Math.max(retry_after, 0.05) * 20) / 20;
    return { queue, reasons: counts, retryAfterSeconds: Math.min(retry, MAX_RETRY_SECONDS) };
  });
}

/**
 * Explains why a person gets nothing from a queue, or whether a ticket of it is offered to them.
 * @param subject the caller's own person, who may not know of every ticket; null: the caller may
 */
export async function explain(
  ctx: Context,
  queue: string,
  person: string,
  skills: string[],
  ticket: string | undefined,
  subject: string | null,
) {
  if (ticket === undefined) {
    const { reasons } = only(await reasonsFor(ctx, [queue], person, skills));
    return { reasons };
  }
  const item = await findKnown(ctx, ticket, subject);
  const [causes] = await ctx.db.run('ticket_causes', { id: item.id, persons: [person], skills });
  const why = [...(item.queue === queue ? [] : ['otherQueue']), ...(causes ? whyNot(item, causes) : [])];
  const ahead = item.state === 'ready' ? await itemsAhead(ctx, item, person, skills) : 0;
  return { offered: why.length === 0, why, ahead };
}

/** Who of the register could take a ticket now, and for each of the others the first cause. @throws Problem `not_found` */
export async function explainWho(ctx: Context, id: string) {
  const item = await find(ctx, id);
  const rows = await ctx.db.lists.run('ticket_causes', { id, skills: [] });
  const found = rows.map((causes) => ({ reviewer: causes.name, reason: whyNot(item, causes)[0] }));
  return {
    could: found.filter(({ reason }) => reason === undefined).map(({ reviewer }) => reviewer),
    others: found.flatMap(({ reviewer, reason }) => (reason === undefined ? [] : [{ reviewer, reason }])),
  };
}

/** All that keeps a person from a ticket. */
function whyNot(item: Item, causes: RowOf<'ticket_causes'>): string[] {
  const isMine = item.holder === causes.name;
  const found: [boolean, string][] = [
    [item.state === 'held' && isMine, 'heldByYou'],
    [item.state !== 'ready' && !isMine, stateWord('ticket', item.state)],
    [item.rules_due_at !== null, 'rules'],
    [causes.not_registered, 'notRegistered'],
    [causes.away, 'away'],
    [causes.excluded, 'excluded'],
    [causes.skipped, 'skipped'],
    [causes.for_another, 'forAnother'],
    [causes.lacks_skills, 'skills'],
    [causes.quota, 'quota'],
    [causes.exposure, 'exposure'],
    [causes.paused, 'paused'],
    [causes.max_held, 'maxHeld'],
  ];
  return found.filter(([applies]) => applies).map(([, code]) => code);
}

async function itemsAhead({ db }: Context, item: Item, person: string, skills: string[]): Promise<number> {
  const { kind, queue, id } = item;
  // rank leaves the range of a double, so it is read again by the database instead of being passed
  return only(await db.run('items_ahead', { kind, queue, id, person, skills })).n;
}
