import { timingSafeEqual } from 'node:crypto';
import { needsSubject, type Role } from '../contract/keys.ts';
import type { ApiKeyRow } from '../db/statements.ts';
import * as keys from '../services/access/keys.ts';
import * as sessions from '../services/access/sessions.ts';
import { type Context, invalid, Problem } from '../services/shared/service.ts';
import { CallRates } from './attempts.ts';
import { isOwnPage, type Sent } from './origins.ts';

/** The caller of an endpoint. */
export interface Caller {
  /** The key's id; `open` where no key is required. */
  id: string;
  name: string | null;
  /** How events name this caller: a reviewer's subject, else the key's name. */
  actor: string;
  role: Role;
  subject: string | null;
  /** Where it may act and read (api/scopes.ts); null: everywhere. */
  queues: string[] | null;
  /** The stream ticket that stands for the key, hashed. */
  ticket?: Buffer;
  /** The session that stands for the key, its token hashed. */
  session?: { hash: Buffer; expiresAt: Date };
}

/** The caller where no key is required. */
export const OPEN: Caller = { id: 'open', name: null, actor: 'anonymous', role: 'admin', subject: null, queues: null };

export const SESSION_COOKIE = 'docket_session';
/** Look-ups at once for callers who were not found before. */
const MOST_STRANGERS = 100;
/** The greatest age of what an open stream knows of its key; with the time between two checks less than a second. */
const LIVE_MS = 400;
const TOKEN = new RegExp(`(?:^|;)\\s*${SESSION_COOKIE}=([A-Za-z0-9_-]{43})\\s*(?:;|$)`);

const callerOf = ({ id, name, role, subject, queues }: ApiKeyRow): Caller => ({
  ...{ id, name, actor: subject ?? name, role, subject, queues },
});

interface Options {
  /** No one needs a key (loopback only). */
  open: boolean;
  publicUrl: string | undefined;
}

/**
 * Authenticates callers. In open mode a call without a key is an administrator's. Keys count there too; cookies do not, because
 * they may belong to another server on this machine.
 */
export class Authenticator {
  readonly #rates = new CallRates();
  #strangers = 0;
  readonly #ctx: Context;
  readonly #options: Options;

  constructor(ctx: Context, options: Options) {
    this.#ctx = ctx;
    this.#options = options;
  }

  /**
   * Authenticates by the header Authorization, else by the session's cookie.
   * @throws Problem `unauthenticated`, `rate_limited`; `forbidden` where a page of another site uses the cookie
   */
  async caller(header: string | undefined, sent: Sent): Promise<Caller> {
    if (header !== undefined) return this.keyCaller(/^Bearer +(\S+)$/i.exec(header)?.[1]);
    if (this.#options.open) return OPEN;
    const token = TOKEN.exec(sent.headers.cookie ?? '')?.[1];
    return token === undefined ? this.keyCaller(undefined) : this.#sessionCaller(keys.digest(token), sent);
  }

  /** @throws Problem `unauthenticated`, `rate_limited` */
  async keyCaller(key: string | undefined): Promise<Caller> {
    const id = key && /^docket_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(key)?.[1];
    const find = () => (id ? keys.find(this.#ctx, id) : undefined);
    const row = id && !keys.knows(this.#ctx, id) ? await this.stranger(find) : await find();
    if (!key || !row || !timingSafeEqual(keys.digest(key), row.hash))
      throw new Problem('unauthenticated', 'send Authorization: Bearer with a valid key');
    return this.#admit(row);
  }

  /**
   * Does something for a caller who is not known. All of them together have a bound, so that they cannot take the database
   * from those who are.
   * @throws Problem `rate_limited`
   */
  async stranger<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.#strangers >= MOST_STRANGERS)
      throw new Problem('rate_limited', 'too many calls at once by callers who are not known', { retryAfter: 1 });
    this.#strangers++;
    try {
      return await work();
    } finally {
      this.#strangers--;
    }
  }

  /** @throws Problem `rate_limited` where the key has called too often */
  #admit(row: ApiKeyRow): Caller {
    if (row.calls_per_second !== null) this.#rates.take(row.id, row.calls_per_second);
    return callerOf(row);
  }

  async #sessionCaller(hash: Buffer, sent: Sent): Promise<Caller> {
    const find = () => sessions.find(this.#ctx, hash);
    const session = sessions.knows(this.#ctx, hash) ? await find() : await this.stranger(find);
    const row = session && (await keys.find(this.#ctx, session.key_id));
    if (!row) throw new Problem('unauthenticated', 'this session is unknown or has ended: sign in again');
    if (!isOwnPage(sent, this.#options.publicUrl))
      throw new Problem(
        'forbidden',
        'pages of other sites may not use this session: its own send Origin or Sec-Fetch-Site',
      );
    return { ...this.#admit(row), session: { hash, expiresAt: session.expires_at } };
  }

  /** @throws Problem `unauthenticated` */
  async ticketCaller(ticket: string): Promise<Caller> {
    const hash = keys.digest(ticket);
    const holder = await this.stranger(() => keys.findStreamHolder(this.#ctx, hash));
    if (!holder) throw new Problem('unauthenticated', 'this stream ticket is unknown or has run out');
    await keys.prolongStreamTicket(this.#ctx, hash);
    return { ...holder, ticket: hash };
  }

  /** Whether the caller's key and session are still valid. Open streams check again and again. */
  async isLive({ id, ticket, session }: Caller): Promise<boolean> {
    if (ticket) await keys.prolongStreamTicket(this.#ctx, ticket);
    if (session && !(await sessions.find(this.#ctx, session.hash, LIVE_MS))) return false;
    return id === OPEN.id || (await keys.find(this.#ctx, id, LIVE_MS)) !== undefined;
  }
}

/**
 * The person or model that a call acts for: a reviewer's or model's key acts for its own subject only.
 * @throws Problem `forbidden` when such a key names another, 422 when none is named
 */
export function personOf(caller: Caller, named: string | undefined, field = 'reviewer'): string {
  if (needsSubject(caller.role) && caller.subject !== null) {
    if (named !== undefined && named !== caller.subject)
      throw new Problem('forbidden', `this key speaks for ${caller.subject} only`);
    return caller.subject;
  }
  if (named === undefined) throw invalid(field, 'is required');
  return named;
}

/** Whether this caller may take items from their holders. */
export const isOperator = ({ role }: Caller): boolean => role === 'supervisor' || role === 'admin';

/** The person that must hold the lease of a token; null: anyone. A reviewer's key can use its own tokens only. */
export const boundTo = (caller: Caller): string | null => (caller.role === 'reviewer' ? caller.subject : null);
