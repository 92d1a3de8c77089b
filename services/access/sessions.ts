import { randomBytes } from 'node:crypto';
import type { Db, RowOf } from '../../db/pool.ts';
import { digest, SESSION_SECONDS } from './keys.ts';

const CACHE_MS = 1_000;
const MOST_CACHED = 10_000;

type Row = RowOf<'get_session'>;

export type SessionService = ReturnType<typeof sessionService>;

/** Sessions of browsers. That the key of one still counts is asked of the keys, with each call. */
export function sessionService(db: Db) {
  const cache = new Map<string, { row: Row | undefined; at: number }>();
  return {
    /** Undefined: the key has ended. The token is shown this once. */
    async create(keyId: string): Promise<{ token: string; seconds: number; expiresAt: Date } | undefined> {
      const token = randomBytes(32).toString('base64url');
      const [row] = await db.run('add_session', { hash: digest(token), keyId, seconds: SESSION_SECONDS });
      return row && { token, seconds: row.seconds, expiresAt: row.expires_at };
    },
    /** A session that has not ended, looked up at most once a second. */
    async find(hash: Buffer): Promise<Row | undefined> {
      const name = hash.toString('base64');
      const known = cache.get(name);
      if (known && Date.now() - known.at < CACHE_MS) return known.row;
      const [row] = await db.run('get_session', { hash });
      if (cache.size > MOST_CACHED) cache.clear();
      cache.set(name, { row, at: Date.now() });
      return row;
    },
    /** Ends it: here at once, in other processes within a second. */
    async end(hash: Buffer): Promise<void> {
      await db.run('end_session', { hash });
      cache.set(hash.toString('base64'), { row: undefined, at: Date.now() });
    },
  };
}
