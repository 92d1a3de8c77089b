import type { Db } from '../../db/pool.ts';
import * as keys from '../../services/access/keys.ts';

/** A key made past the API, where a server asks for one already. */
export async function createKey(db: Db, wanted: keys.NewKey): Promise<{ id: string; key: string }> {
  const { row, key } = await keys.create({ db }, wanted);
  return { id: row.id, key };
}

export const revokeKey = (db: Db, id: string) => keys.revoke({ db }, id);
