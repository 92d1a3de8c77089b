import { type Db, only } from '../../db/pool.ts';
import type { Secrets } from '../../runtime/secrets.ts';

/**
 * Seals all stored secrets of callbacks with the first key. Safe to repeat, to break off, and while processes run.
 * @param name of that key
 * @returns how many callbacks have been sealed, and how many secrets no known key opens
 */
export async function reseal(db: Db, secrets: Secrets, name: string): Promise<{ sealed: number; unopened: number }> {
  let [sealed, unopened] = [0, 0];
  for (let after = ''; ; ) {
    const stored = (await db.run('secrets_to_reseal', { name, after })).map(({ secret }) => secret);
    const last = stored.at(-1);
    if (last === undefined) return { sealed, unopened };
    const pairs = stored.map((secret) => ({ old: secret, new: secrets.seal({ secret }).secret }));
    const changed = pairs.filter((pair) => pair.new !== pair.old);
    unopened += pairs.length - changed.length;
    const [old, renewed] = [changed.map((pair) => pair.old), changed.map((pair) => pair.new)];
    sealed += only(await db.move('reseal', { old, new: renewed })).n;
    after = last;
  }
}
