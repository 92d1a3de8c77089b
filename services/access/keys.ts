import { hash, randomBytes } from 'node:crypto';
import type { Role } from '../../contract/keys.ts';
import { type Db, only } from '../../db/pool.ts';
import type { ApiKeyRow } from '../../db/statements.ts';
import type { Person } from './open-id.ts';

/** A key as lists show it. */
export type KeyLine = Omit<ApiKeyRow, 'hash' | 'issuer_subject'>;

export interface NewKey {
  name: string;
  role: Role;
  subject: string | null;
  /** Names, or prefixes with a `*`; null: all. */
  queues?: string[] | null;
  /** ISO 8601. */
  expiresAt?: string | null;
  /** Of each process; null: as many as it likes. */
  callsPerSecond?: number | null;
}

/** Whom a stream ticket stands for. */
interface StreamHolder {
  /** Its key's. */
  id: string;
  name: string;
  actor: string;
  role: Role;
  subject: string | null;
  queues: string[] | null;
  /** That asked for it; it ends with this. */
  session?: { hash: Buffer; expiresAt: Date };
}

/** Twelve hours. */
export const SESSION_SECONDS = 43_200;
const PREFIX = 'docket';
const CACHE_MS = 1_000;
const MOST_CACHED = 10_000;
const STREAM_TICKET_SECONDS = 60;
/** As long as notices are kept: a reader that comes back within this time misses none. */
const KEPT_SECONDS = 600;
const KEEP_MS = 60_000;

export type KeyService = ReturnType<typeof keyService>;

export function keyService(db: Db) {
  const cache = new Map<string, { row: ApiKeyRow | undefined; at: number }>();
  const kept = new Map<string, number>();
  return {
    /** Makes a key `docket_<id>_<secret>`, which is shown this once. */
    async create(wanted: NewKey): Promise<{ row: KeyLine; key: string }> {
      const id = newKeyId();
      const key = `${PREFIX}_${id}_${randomBytes(32).toString('base64url')}`;
      return { row: only(await db.run('add_key', { id, ...wanted, hash: digest(key) })), key };
    },
    /** The key of somebody who has signed in at a provider, for as long as a session: it has no text. */
    async ofPerson({ name, role, ...person }: Person): Promise<string> {
      const subject = role === 'reviewer' ? name : null;
      const made = { ...person, id: newKeyId(), name, role, subject, hash: randomBytes(32), seconds: SESSION_SECONDS };
      const { id } = only(await db.run('put_person_key', made));
      cache.delete(id);
      return id;
    },
    /** Newest first, from behind `before`. */
    list: (before: number | null, limit: number) => db.lists.run('list_keys', { before, limit }),
    /** Ends a key, within a second everywhere. Undefined: there is none. */
    revoke: async (id: string): Promise<KeyLine | undefined> => (await db.run('revoke_key', { id }))[0],
    /** A key that counts, looked up at most once a second, with the hash of its text. */
    async find(id: string): Promise<ApiKeyRow | undefined> {
      const known = cache.get(id);
      if (known && Date.now() - known.at < CACHE_MS) return known.row;
      const [row] = await db.run('get_key', { id });
      if (cache.size > MOST_CACHED) cache.clear();
      cache.set(id, { row, at: Date.now() });
      return row;
    },
    /** A ticket that stands for a key in a URL; to be used within 60 s. */
    async streamTicket({ id: keyId, session, ...holder }: Omit<StreamHolder, 'queues' | 'name'>) {
      const ticket = `st_${randomBytes(32).toString('base64url')}`;
      await db.run('forget_stream_tickets');
      const made = { ...holder, keyId, session: session?.hash, hash: digest(ticket), seconds: STREAM_TICKET_SECONDS };
      return { ticket, expiresAt: only(await db.run('add_stream_ticket', made)).expires_at };
    },
    /** Undefined: unknown, or it has run out. */
    async holderOf(ticketHash: Buffer): Promise<StreamHolder | undefined> {
      const [row] = await db.run('get_stream_ticket', { hash: ticketHash });
      if (!row) return undefined;
      const { key_id: id, name, actor, role, subject, queues } = row;
      const session = row.session && row.session_ends ? { hash: row.session, expiresAt: row.session_ends } : undefined;
      return { id, name, actor, role, subject, queues, ...(session && { session }) };
    },
    /** Lets a stream ticket that is in use last for as long as its stream, and some time longer. */
    async keep(ticketHash: Buffer): Promise<void> {
      const name = ticketHash.toString('base64');
      if (Date.now() - (kept.get(name) ?? 0) < KEEP_MS) return;
      if (kept.size > MOST_CACHED) kept.clear();
      kept.set(name, Date.now());
      await db.run('keep_stream_ticket', { hash: ticketHash, seconds: KEPT_SECONDS });
    },
  };
}

const newKeyId = () => randomBytes(6).toString('hex');

/** Of a key only this is kept: with 32 random bytes a slow hash gains nothing. */
export const digest = (key: string): Buffer => hash('sha256', key, 'buffer');
