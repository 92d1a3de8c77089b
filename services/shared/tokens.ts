import { hash, randomFillSync } from 'node:crypto';
import type { Item } from '../../contract/items.ts';

/** Random bytes are drawn for many names at once: each draw costs a system call's time. Each byte is used once. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

function randomText(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('base64url', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return text;
}

/**
 * A lease token: unguessable, and beginning with the time. Made here and not by the database, so that a lost answer's
 * fate can be looked up.
 */
export function newToken(): string {
  return `lt_${Date.now().toString(36).padStart(9, '0')}${randomText(16)}`;
}

export const isSettledBy = ({ settled_token }: Item, token: string) =>
  settled_token !== null && Buffer.compare(settled_token, hash('sha256', token, 'buffer')) === 0;

/** A new item's id. */
export const newId = () => `${Date.now().toString(36)}-${randomText(9)}`;

/**
 * The id that an `Idempotency-Key` stands for: the same caller with the same key means the same
 * item, so a repeat is an add by id like any other.
 */
export function idFromKey(callerId: string, scope: string, key: string): string {
  return `ik-${hash('sha256', JSON.stringify([callerId, scope, key]), 'base64url')}`;
}

/** The id of a message to a receiver, by all that it is about. */
export const messageIdOf = (about: string) => `msg_${hash('sha256', about, 'hex').slice(0, 32)}`;

/** SHA-256 of a JSON value whatever the order of its keys, hex. */
export function contentHash(value: unknown): string {
  return hash('sha256', JSON.stringify(inOrder(value)), 'hex');
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  // without a prototype, which a name of the value's own would set
  const sorted: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(value).sort()) sorted[name] = inOrder((value as Record<string, unknown>)[name]);
  return sorted;
}
