import type { Queryable } from './pool.ts';

export type Role = 'producer' | 'reviewer' | 'agent' | 'consumer' | 'admin';

export interface KeyRow {
  id: string;
  name: string;
  role: Role;
  subject: string | null;
  hash: Buffer;
  /** Names, or prefixes with a `*`; null: all. */
  queues: string[] | null;
  expires_at: Date | null;
  created_at: Date;
  revoked_at: Date | null;
  seq: number;
}

/** A key as lists show it. */
export type KeyLine = Omit<KeyRow, 'hash'>;

export interface NewKeyRow extends Pick<KeyRow, 'id' | 'name' | 'role' | 'subject' | 'hash' | 'queues'> {
  expiresAt: string | null;
}

export async function addKey(db: Queryable, k: NewKeyRow): Promise<KeyRow> {
  const [row] = await db.run<KeyRow>('add_key', [k.id, k.name, k.role, k.subject, k.hash, k.queues, k.expiresAt]);
  if (!row) throw new Error('add_key returned no row');
  return row;
}

export async function getKey(db: Queryable, id: string): Promise<KeyRow | undefined> {
  return (await db.run<KeyRow>('get_key', [id]))[0];
}

export const listKeys = (db: Queryable, before: number | null, limit: number) =>
  db.run<KeyLine>('list_keys', [before, limit]);

export async function revokeKey(db: Queryable, id: string): Promise<KeyLine | undefined> {
  return (await db.run<KeyRow>('revoke_key', [id]))[0];
}

export interface StreamTicket {
  key_id: string;
  actor: string;
  role: Role;
  subject: string | null;
  /** Its key's. */
  queues: string[] | null;
}

export async function addStreamTicket(
  db: Queryable,
  hash: Buffer,
  t: Omit<StreamTicket, 'queues'>,
  seconds: number,
): Promise<Date> {
  await db.run('forget_stream_tickets');
  const values = [hash, t.key_id, t.actor, t.role, t.subject, seconds];
  const [row] = await db.run<{ expires_at: Date }>('add_stream_ticket', values);
  if (!row) throw new Error('add_stream_ticket returned no row');
  return row.expires_at;
}

export const keepStreamTicket = (db: Queryable, hash: Buffer, seconds: number) =>
  db.run('keep_stream_ticket', [hash, seconds]);

export async function getStreamTicket(db: Queryable, hash: Buffer): Promise<StreamTicket | undefined> {
  return (await db.run<StreamTicket>('get_stream_ticket', [hash]))[0];
}
