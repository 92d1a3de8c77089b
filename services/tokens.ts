import { createHash, randomBytes } from 'node:crypto';
import type { Item } from '../contract/items.ts';

/**
 * A lease token: unguessable, and beginning with the time. Made here and not by the database, so that a lost answer's
 * fate can be looked up.
 */
export function newToken(): string {
  return `lt_${Date.now().toString(36).padStart(9, '0')}${randomBytes(16).toString('base64url')}`;
}

/** Whether the lease with this token is the one that settled the item. */
export const isSettledBy = ({ settled_token }: Item, token: string) =>
  settled_token !== null && Buffer.compare(settled_token, createHash('sha256').update(token).digest()) === 0;

/** A new item's id. */
export const newId = () => `${Date.now().toString(36)}-${randomBytes(9).toString('base64url')}`;

/**
 * The id that an `Idempotency-Key` stands for: the same caller with the same key means the same
 * item, so a repeat is an add by id like any other.
 */
export function idFromKey(callerId: string, scope: string, key: string): string {
  return `ik-${createHash('sha256')
    .update(JSON.stringify([callerId, scope, key]))
    .digest('base64url')}`;
}

/** SHA-256 of a JSON value whatever the order of its keys, hex. */
export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    typeof v === 'object' && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}
