import type { Context } from './context.ts';
import { invalid } from './problems.ts';

/** @throws Problem 422 for a zone in which the database cannot compute */
export async function checkZone({ db }: Context, name: string): Promise<void> {
  const [zone] = await db.run('is_zone', { name });
  if (!zone?.known) throw invalid('timezone', 'is not a time zone that the database knows');
}
