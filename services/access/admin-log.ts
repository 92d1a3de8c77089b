import type { Callback } from '../../contract/items.ts';
import { only, type ParamsOf } from '../../db/pool.ts';
import { withoutQuery } from '../../domain/callbacks.ts';
import { type Context, problemFrom } from '../shared/service.ts';

/** A call that changes settings or keys; `keyId` null: from the command line. */
type AdminCall = ParamsOf<'open_admin_log'>;

const MAX_BODY_BYTES = 16_384;
/** What has a URL, which may hold a token, and a secret. */
const CALLBACKS = new Set(['callback', 'invitationCallback', 'push']);

/**
 * Writes a line before the call, so that there is no change without one, and its status afterwards.
 * @throws where no line could be written: then nothing was done
 */
export async function record<T extends { status: number }>(
  { db }: Pick<Context, 'db'>,
  { body, ...call }: AdminCall,
  act: () => Promise<T>,
): Promise<T> {
  const { seq } = only(await db.run('open_admin_log', { ...call, body: shown(body) }));
  // what was done is done, whether or not that can be noted
  const close = (status: number) => db.run('close_admin_log', { seq, status }).catch(() => {});
  try {
    const answered = await act();
    await close(answered.status);
    return answered;
  } catch (error) {
    await close(problemFrom(error).status);
    throw error;
  }
}

/** Newest first, from behind `before`. @param path of one setting only */
export const list = ({ db }: Context, path: string | undefined, before: number | null, limit: number) =>
  db.lists.run('list_admin_log', { path, before, limit });

/** A body without secrets; null: none, or too large. */
function shown(body: unknown): unknown {
  if (body === undefined || Buffer.byteLength(JSON.stringify(body)) > MAX_BODY_BYTES) return null;
  const hidden = (callback: Callback) => ({
    ...{ ...callback, url: withoutQuery(callback.url) },
    ...(callback.secret !== undefined && { secret: '***' }),
  });
  const entries = Object.entries(body as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, CALLBACKS.has(name) && value ? hidden(value as Callback) : value]),
  );
}
