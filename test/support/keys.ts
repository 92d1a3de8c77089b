import type { Db } from '../../db/pool.ts';
import { keyService, type NewKey } from '../../services/access/keys.ts';

/** A key made past the API, where a server asks for one already. */
export async function createKey(db: Db, wanted: NewKey): Promise<{ id: string; key: string }> {
  const { row, key } = await keyService(db).create(wanted);
  return { id: row.id, key };
}

export const revokeKey = (db: Db, id: string) => keyService(db).revoke(id);
