import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  addKey,
  addStreamTicket,
  getKey,
  getStreamTicket,
  type KeyLine,
  type KeyRow,
  keepStreamTicket,
  type Role,
} from '../db/keys.ts';
import type { Db } from '../db/pool.ts';
import { invalid, Problem } from '../services/problems.ts';

/** Who calls. */
export interface Caller {
  /** The key's id; `open` where no key is asked for. */
  id: string;
  /** How events name this caller: a reviewer's subject, else the key's name. */
  actor: string;
  role: Role;
  subject: string | null;
  /** Where it may act and read (api/scopes.ts); null: everywhere. */
  queues: string[] | null;
  /** The stream ticket that stands for the key, hashed. */
  ticket?: Buffer;
}

const PREFIX = 'docket';
const CACHE_MS = 1_000;
const STREAM_TICKET_SECONDS = 60;
/** As long as notices are kept: whoever comes back within this time misses none. */
const KEPT_SECONDS = 600;
const KEEP_MS = 60_000;
const OPEN: Caller = { id: 'open', actor: 'anonymous', role: 'admin', subject: null, queues: null };

interface Wanted {
  name: string;
  role: Role;
  subject: string | null;
  queues?: string[] | null;
  /** ISO 8601. */
  expiresAt?: string | null;
}

/** Makes a key `docket_<id>_<secret>`. Only its SHA-256 is kept: with 32 random bytes a slow hash gains nothing. */
export async function createKey(
  db: Db,
  { name, role, subject, queues = null, expiresAt = null }: Wanted,
): Promise<{ id: string; key: string; row: KeyLine }> {
  const id = randomBytes(6).toString('hex');
  const key = `${PREFIX}_${id}_${randomBytes(32).toString('base64url')}`;
  const row = await addKey(db, { id, name, role, subject, queues, expiresAt, hash: digest(key) });
  return { id, key, row };
}

/**
 * Finds out who calls. In open mode (loopback only) a missing key is an administrator, a given one
 * counts. Keys are looked up at most once a second each, so a revoked one ends within that time.
 */
export class Authenticator {
  readonly #db: Db;
  readonly #open: boolean;
  readonly #kept = new Map<string, number>();
  readonly #cache = new Map<string, { row: KeyRow | undefined; at: number }>();

  constructor(db: Db, open: boolean) {
    this.#db = db;
    this.#open = open;
  }

  /** @throws Problem `unauthenticated` */
  async caller(header: string | undefined): Promise<Caller> {
    if (header === undefined && this.#open) return OPEN;
    const key = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
    const id = key && /^docket_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(key)?.[1];
    const row = id ? await this.#find(id) : undefined;
    if (!key || !row || !timingSafeEqual(digest(key), row.hash))
      throw new Problem('unauthenticated', 'send Authorization: Bearer with a valid key');
    const { role, subject, queues } = row;
    return { id: row.id, actor: subject ?? row.name, role, subject, queues };
  }

  /** A ticket that stands for the caller's key in the URL of an event stream; to be used within 60 s. */
  async streamTicket(caller: Caller): Promise<{ ticket: string; expiresAt: Date }> {
    const ticket = `st_${randomBytes(32).toString('base64url')}`;
    const { id, actor, role, subject } = caller;
    const expiresAt = await addStreamTicket(
      this.#db,
      digest(ticket),
      { key_id: id, actor, role, subject },
      STREAM_TICKET_SECONDS,
    );
    return { ticket, expiresAt };
  }

  /** @throws Problem `unauthenticated` */
  async ticketCaller(ticket: string): Promise<Caller> {
    const hash = digest(ticket);
    const row = await getStreamTicket(this.#db, hash);
    if (!row) throw new Problem('unauthenticated', 'this stream ticket is unknown or has run out');
    await this.#keep(hash);
    const { key_id: id, actor, role, subject, queues } = row;
    return { id, actor, role, subject, queues, ticket: hash };
  }

  /** Whether the caller's key still counts: what stays open for long asks again. */
  async isLive({ id, ticket }: Caller): Promise<boolean> {
    if (ticket) await this.#keep(ticket);
    return id === OPEN.id || (await this.#find(id)) !== undefined;
  }

  /** A stream ticket that is in use lasts for as long as its stream, and some time longer. */
  async #keep(ticket: Buffer): Promise<void> {
    const name = ticket.toString('base64');
    if (Date.now() - (this.#kept.get(name) ?? 0) < KEEP_MS) return;
    if (this.#kept.size > 10_000) this.#kept.clear();
    this.#kept.set(name, Date.now());
    await keepStreamTicket(this.#db, ticket, KEPT_SECONDS);
  }

  async #find(id: string): Promise<KeyRow | undefined> {
    const known = this.#cache.get(id);
    if (known && Date.now() - known.at < CACHE_MS) return known.row;
    const row = await getKey(this.#db, id);
    if (this.#cache.size > 10_000) this.#cache.clear();
    this.#cache.set(id, { row, at: Date.now() });
    return row;
  }
}

/**
 * The person a call is for: a reviewer's key speaks for its own subject only.
 * @throws Problem `forbidden` when a reviewer's key names another, 422 when nobody is named
 */
export function personOf(caller: Caller, named: string | undefined, field = 'reviewer'): string {
  if (caller.role === 'reviewer' && caller.subject !== null) {
    if (named !== undefined && named !== caller.subject)
      throw new Problem('forbidden', `this key speaks for ${caller.subject} only`);
    return caller.subject;
  }
  if (named === undefined) throw invalid(field, 'is required');
  return named;
}

/** The holder a token must belong to: a reviewer's key can use its own only. */
export const boundTo = (caller: Caller): string | null => (caller.role === 'reviewer' ? caller.subject : null);

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
