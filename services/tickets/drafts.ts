import type { Hold } from '../items/items.ts';
import { type Context, Problem } from '../shared/service.ts';
import { findAttempted, rejection } from './leases.ts';
import type { Handed } from './tickets.ts';

const MAX_BYTES = 64 * 1024;

/**
 * Keeps what the holder has filled in of a decision; it replaces their draft of before (S0.7).
 * @throws Problem `payload_too_large` above 64 KB of JSON, `not_found`, `not_open`, `lease_lost`
 */
export async function put(ctx: Context, { id, token, subject }: Hold, draft: unknown): Promise<void> {
  const text = JSON.stringify(draft);
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Problem('payload_too_large', `a draft may have ${MAX_BYTES} bytes at most`);
  const [kept] = await ctx.db.run('put_draft', { id, token, subject, draft: text });
  if (kept) return;
  // no attempt at the ticket: the history does not say it
  throw await rejection(ctx, await findAttempted(ctx, id, token, subject), { token: null, subject }, 'draft');
}

/** A person's own draft; undefined: there is none, or it has ended. */
export const get = async ({ db }: Context, id: string, person: string) =>
  (await db.run('drafts_of', { ids: [id], person }))[0];

/** The tickets with the drafts that this person wrote with an earlier answer, or under an earlier lease. */
export async function withDrafts({ db }: Context, handed: Handed[], person: string): Promise<Handed[]> {
  const ids = handed.filter(({ item, isNew }) => !isNew || item.attempts > 1).map(({ item }) => item.id);
  if (ids.length === 0) return handed;
  const drafts = new Map((await db.run('drafts_of', { ids, person })).map(({ id, draft }) => [id, draft]));
  return handed.map((one) => (drafts.has(one.item.id) ? { ...one, draft: drafts.get(one.item.id) } : one));
}
