import { timingSafeEqual } from 'node:crypto';
import type { Role } from '../contract/keys.ts';
import { digest, type KeyService } from '../services/keys.ts';
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

const OPEN: Caller = { id: 'open', actor: 'anonymous', role: 'admin', subject: null, queues: null };

/**
 * Finds out who calls. In open mode (loopback only) a missing key is an administrator, a given one
 * counts.
 */
export class Authenticator {
  readonly #keys: KeyService;
  readonly #open: boolean;

  constructor(keys: KeyService, open: boolean) {
    this.#keys = keys;
    this.#open = open;
  }

  /** @throws Problem `unauthenticated` */
  async caller(header: string | undefined): Promise<Caller> {
    if (header === undefined && this.#open) return OPEN;
    const key = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
    const id = key && /^docket_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(key)?.[1];
    const row = id ? await this.#keys.find(id) : undefined;
    if (!key || !row || !timingSafeEqual(digest(key), row.hash))
      throw new Problem('unauthenticated', 'send Authorization: Bearer with a valid key');
    const { role, subject, queues } = row;
    return { id: row.id, actor: subject ?? row.name, role, subject, queues };
  }

  /** @throws Problem `unauthenticated` */
  async ticketCaller(ticket: string): Promise<Caller> {
    const hash = digest(ticket);
    const holder = await this.#keys.holderOf(hash);
    if (!holder) throw new Problem('unauthenticated', 'this stream ticket is unknown or has run out');
    await this.#keys.keep(hash);
    return { ...holder, ticket: hash };
  }

  /** Whether the caller's key still counts: what stays open for long asks again. */
  async isLive({ id, ticket }: Caller): Promise<boolean> {
    if (ticket) await this.#keys.keep(ticket);
    return id === OPEN.id || (await this.#keys.find(id)) !== undefined;
  }
}

/**
 * The person a call is for: a reviewer's key speaks for its own subject only.
 * @throws Problem `forbidden` when a reviewer's key names another, 422 when no person is named
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
