import { hash, randomBytes } from 'node:crypto';
import type { Role } from '../../contract/keys.ts';
import { only, type ParamsOf, type RowOf } from '../../db/pool.ts';
import type { ApiKeyRow } from '../../db/statements.ts';
import { type Context, invalid, perContext } from '../shared/service.ts';
import { Lookups } from './lookups.ts';
import type { Person } from './open-id.ts';

/** A key as lists show it. */
export type KeyLine = Omit<ApiKeyRow, 'hash' | 'issuer_subject'>;

/** `queues`: names, or prefixes with a `*`; null: all. `callsPerSecond`: of each process; null: any number. */
export type NewKey = Omit<ParamsOf<'add_key'>, 'id' | 'hash'> & { role: Role };

/** The holder of the key that a stream ticket stands for. */
interface StreamHolder extends Pick<RowOf<'get_stream_ticket'>, 'name' | 'actor' | 'role' | 'subject' | 'queues'> {
  /** The id of its key. */
  id: string;
  /** The session that asked for it; the ticket ends with it. */
  session?: { hash: Buffer; expiresAt: Date };
}

/** The command line has no other parts of a context. */
type Store = Pick<Context, 'db'>;

/** Twelve hours. */
export const SESSION_SECONDS = 43_200;
const PREFIX = 'docket';
const STREAM_TICKET_SECONDS = 60;
/** As long as notices are kept: a reader that comes back within this time misses none. */
const KEPT_SECONDS = 600;
const KEEP_MS = 60_000;
/** Stream tickets of which a process remembers when it prolonged them. */
const MOST_KEPT = 10_000;

const lookups = perContext(() => new Lookups<ApiKeyRow>());
/** When each stream ticket was prolonged last, in milliseconds since 1970. */
const prolonged = perContext(() => new Map<string, number>());

/** Makes a key `docket_<id>_<secret>`, which is shown this once. @throws Problem 422 when it would have ended already */
export async function create({ db }: Store, wanted: NewKey): Promise<{ row: KeyLine; key: string }> {
  const id = newKeyId();
  const key = `${PREFIX}_${id}_${randomBytes(32).toString('base64url')}`;
  const [row] = await db.run('add_key', { id, ...wanted, hash: digest(key) });
  if (!row) throw invalid('expiresAt', 'is in the past');
  return { row, key };
}

/** Makes a key without a text for a person who has signed in at a provider, valid for one session. @returns its id */
export async function createForPerson(ctx: Context, { name, role, ...person }: Person): Promise<string> {
  const subject = role === 'reviewer' ? name : null;
  const made = { ...person, id: newKeyId(), name, role, subject, hash: randomBytes(32), seconds: SESSION_SECONDS };
  const { id } = only(await ctx.db.run('put_person_key', made));
  lookups(ctx).delete(id);
  return id;
}

/** Newest first, from behind `before`. */
export const list = ({ db }: Store, before: number | null, limit: number): Promise<KeyLine[]> =>
  db.lists.run('list_keys', { before, limit });

/** Ends a key, within a second everywhere. Undefined: there is none. */
export const revoke = async ({ db }: Store, id: string): Promise<KeyLine | undefined> =>
  (await db.run('revoke_key', { id }))[0];

/** A key that counts, looked up at most once a second, with the hash of its text. @param keptMs less than a second */
export const find = (ctx: Context, id: string, keptMs?: number): Promise<ApiKeyRow | undefined> =>
  lookups(ctx).get(id, async () => (await ctx.db.run('get_key', { id }))[0], keptMs);

/** Whether a key of this id was found before. */
export const knows = (ctx: Context, id: string): boolean => lookups(ctx).knows(id);

/** Makes a ticket that stands for a key in a URL; to be used within 60 s. */
export async function createStreamTicket(
  { db }: Context,
  { id: keyId, session, ...holder }: Omit<StreamHolder, 'queues' | 'name'>,
): Promise<{ ticket: string; expiresAt: Date }> {
  const ticket = `st_${randomBytes(32).toString('base64url')}`;
  await db.run('forget_stream_tickets');
  const made = { ...holder, keyId, session: session?.hash, hash: digest(ticket), seconds: STREAM_TICKET_SECONDS };
  return { ticket, expiresAt: only(await db.run('add_stream_ticket', made)).expires_at };
}

/** Undefined: the ticket is unknown, or has run out. */
export async function findStreamHolder({ db }: Context, ticketHash: Buffer): Promise<StreamHolder | undefined> {
  const [row] = await db.run('get_stream_ticket', { hash: ticketHash });
  if (!row) return undefined;
  const { key_id: id, name, actor, role, subject, queues } = row;
  const session = row.session && row.session_ends ? { hash: row.session, expiresAt: row.session_ends } : undefined;
  return { id, name, actor, role, subject, queues, ...(session && { session }) };
}

/** Prolongs a stream ticket that is in use beyond the end of its stream, once a minute. */
export async function prolongStreamTicket(ctx: Context, ticketHash: Buffer): Promise<void> {
  const name = ticketHash.toString('base64');
  const at = prolonged(ctx);
  if (Date.now() - (at.get(name) ?? 0) < KEEP_MS) return;
  if (at.size > MOST_KEPT) at.clear();
  at.set(name, Date.now());
  await ctx.db.run('keep_stream_ticket', { hash: ticketHash, seconds: KEPT_SECONDS });
}

const newKeyId = () => randomBytes(6).toString('hex');

/** The hash of a key, which is all that is kept of it: with 32 random bytes a slow hash gains nothing. */
export const digest = (key: string): Buffer => hash('sha256', key, 'buffer');
