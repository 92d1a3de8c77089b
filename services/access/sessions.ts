import { randomBytes } from 'node:crypto';
import type { RowOf } from '../../db/pool.ts';
import { type Context, perContext } from '../shared/service.ts';
import { digest, SESSION_SECONDS } from './keys.ts';
import { Lookups } from './lookups.ts';

type Row = RowOf<'get_session'>;

const lookups = perContext(() => new Lookups<Row>());

/**
 * Begins a session of a browser. Its token is shown this once. With each call of the session its key is looked up too.
 * Undefined: the key has ended.
 */
export async function create({ db }: Context, keyId: string) {
  const token = randomBytes(32).toString('base64url');
  const [row] = await db.run('add_session', { hash: digest(token), keyId, seconds: SESSION_SECONDS });
  return row && { token, seconds: row.seconds, expiresAt: row.expires_at };
}

/** A session that has not ended, looked up at most once a second. @param keptMs less than a second */
export const find = (ctx: Context, hash: Buffer, keptMs?: number): Promise<Row | undefined> =>
  lookups(ctx).get(hash.toString('base64'), async () => (await ctx.db.run('get_session', { hash }))[0], keptMs);

/** Whether this session was found before. */
export const knows = (ctx: Context, hash: Buffer): boolean => lookups(ctx).knows(hash.toString('base64'));

/** Ends a session: here at once, in other processes within a second. */
export async function end(ctx: Context, hash: Buffer): Promise<void> {
  await ctx.db.run('end_session', { hash });
  lookups(ctx).delete(hash.toString('base64'));
}
