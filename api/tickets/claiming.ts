import type { Item } from '../../contract/items.ts';
import { claimItems, claimNextItem, claimReasons } from '../../db/queues.ts';
import { ticketView } from '../../domain/tickets.ts';
import { newToken } from '../../services/tokens.ts';
import type { Api } from '../api.ts';

export interface ClaimRequest {
  queue: string;
  reviewer: string;
  skills: string[];
  count: number;
  waitSeconds: number;
  signal: AbortSignal;
}

interface Handed {
  item: Item;
  resumed: boolean;
}

const MAX_RETRY_SECONDS = 60;
const DEFAULT_RETRY_SECONDS = 5;

/**
 * Hands out what the reviewer holds in the queue, then the best new tickets; waits for one if asked
 * to (S0.3, S0.6, S0.8).
 */
export async function claimTickets(api: Api, request: ClaimRequest) {
  const { queue, signal } = request;
  await api.services.queues.ensure('ticket', queue);
  const wait = { keys: () => [`ticket/${queue}`], seconds: request.waitSeconds, signal };
  const handed = await api.runtime.waiters.waitFor(wait, async () => {
    const taken = await take(api, request);
    return taken.length > 0 ? taken : undefined;
  });
  if (!handed) return { tickets: [], ...(await reasonsFor(api, request)) };
  if (signal.aborted) await giveBack(api, handed);
  const tickets = handed.map(({ item, resumed }) => ({ ...ticketView(item, item.lease_id), resumed }));
  return { tickets, reasons: null, retryAfterSeconds: 0 };
}

/** The reviewer's next new ticket, asked for by a decision; asked again, the same (S0.8). */
export async function claimNext(api: Api, queue: string, reviewer: string, skills: string[], follows: string) {
  const token = newToken();
  const rows = await claimNextItem(api.runtime.db, { kind: 'ticket', queue, person: reviewer, token, skills, follows });
  const [item] = rows;
  if (item?.lease_id === token) api.metrics.handedOut(queue, 1);
  // asked again later, somebody else may hold it by now, whose token is not for this caller
  return item ? { ...ticketView(item, item.holder === reviewer ? item.lease_id : null), resumed: false } : null;
}

/** Counts and hints for somebody who got nothing. */
export async function reasonsFor(
  api: Api,
  { queue, reviewer, skills }: Pick<ClaimRequest, 'queue' | 'reviewer' | 'skills'>,
) {
  const { max_held, retry_after, ...counts } = await claimReasons(api.runtime.db, 'ticket', queue, reviewer, skills);
  const retry = retry_after === null ? DEFAULT_RETRY_SECONDS : Math.ceil(Math.max(retry_after, 0.05) * 20) / 20;
  return { reasons: { ...counts, maxHeld: max_held }, retryAfterSeconds: Math.min(retry, MAX_RETRY_SECONDS) };
}

async function take(api: Api, { queue, reviewer, skills, count }: ClaimRequest): Promise<Handed[]> {
  const { rows, tokens } =
    count === 1 && skills.length === 0
      ? await plain(api, queue, reviewer)
      : await filtered(api, queue, reviewer, skills, count);
  // what is held comes first and in the order of the claims; new ones follow in the order of the queue,
  // which is that of their tokens: the update that grants them returns them in any order
  const place = new Map(tokens.map((token, n) => [token, n]));
  const placeOf = (item: Item) => place.get(item.lease_id ?? '') ?? -1;
  const fresh = rows.filter((item) => placeOf(item) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
  if (fresh.length > 0) api.metrics.handedOut(queue, fresh.length);
  const resumed = rows.filter((item) => placeOf(item) < 0).map((item) => ({ item, resumed: true }));
  return [...resumed, ...fresh.map((item) => ({ item, resumed: false }))].slice(0, count);
}

async function plain(api: Api, queue: string, reviewer: string) {
  const { rows, token } = await api.services.tickets.claim(queue, reviewer);
  return { rows, tokens: [token] };
}

async function filtered(api: Api, queue: string, reviewer: string, skills: string[], count: number) {
  const tokens = Array.from({ length: count }, newToken);
  const claim = { kind: 'ticket' as const, queue, persons: [reviewer], tokens, count, skills, resume: true };
  const rows = await claimItems(api.runtime.db, claim);
  return { rows, tokens };
}

/** An answer that can't be written to a closed connection is no hand-out. */
async function giveBack(api: Api, handed: Handed[]): Promise<void> {
  for (const { item, resumed } of handed) {
    if (resumed || item.holder === null) continue;
    await api.runtime.db.move('release_item', {
      kind: 'ticket',
      id: item.id,
      token: item.lease_id,
      delaySeconds: 0,
      skip: false,
      reason: 'the caller was gone',
      actor: item.holder,
      undelivered: true,
    });
  }
}
