import { eventually, type Http, insist, type Json } from './http.ts';
import type { TestSystem } from './system.ts';

/** What of a client's erasures has come to its end. */
export async function erased(client: Http, target: object, ms?: number): Promise<Json> {
  const { id } = insist(await client.post('/v1/erasures', { reason: 'asked for', ...target }), 'erasure', 202);
  await eventually(async () => (await client.get(`/v1/erasures/${id}`)).body.state === 'done', ms);
  return (await client.get(`/v1/erasures/${id}`)).body;
}

/** The tables that have a text in any column of any row, as text, JSON or bytes, with how many rows. */
export async function tablesWith({ sql }: Pick<TestSystem, 'sql'>, text: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
  );
  const found: Record<string, number> = {};
  const hex = Buffer.from(text).toString('hex');
  for (const { name } of tables) {
    const where = 'strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0';
    const [row] = await sql<{ n: number }>(`select count(*)::integer as n from ${name} t where ${where}`, [text, hex]);
    if (row && row.n > 0) found[name] = row.n;
  }
  return found;
}
