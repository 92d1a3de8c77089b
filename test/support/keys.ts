import { expect } from 'vitest';
import type { Db } from '../../db/pool.ts';
import * as keys from '../../services/access/keys.ts';
import { eventually } from './eventually.ts';

/** A key made past the API, where a server asks for one already. */
export async function createKey(db: Db, wanted: keys.NewKey): Promise<{ id: string; key: string }> {
  const { row, key } = await keys.create({ db }, wanted);
  return { id: row.id, key };
}

export const revokeKey = (db: Db, id: string) => keys.revoke({ db }, id);

/**
 * Calls with what has ended until it is refused. A call that begins more than a second later is never accepted; a slow
 * machine only makes fewer.
 */
export async function endsWithinASecond(call: () => Promise<{ status: number }>): Promise<void> {
  const ended = performance.now();
  let accepted = 0;
  await eventually(async () => {
    const began = performance.now() - ended;
    const { status } = await call();
    if (status !== 401) accepted = began;
    return status === 401;
  });
  expect(accepted, 'ms after the end, the last call that was accepted').toBeLessThanOrEqual(1_000);
}
