import pg from 'pg';
import { Connection, connectionTo } from '../../runtime/database.ts';
import { databaseFailure, throwing } from '../../runtime/failures.ts';
import { isUnavailable } from '../../services/shared/service.ts';
import { type Target, Transient } from './target.ts';

/**
 * Upserts into a table of a database that is not Docket's. Makes the table and the one that holds its position where they
 * are missing.
 * @param table may be qualified: `schema.table`
 * @throws Transient when it cannot be reached; Error with its message when it refuses
 */
export async function openPostgres(url: string, table: string): Promise<Target> {
  const client = new Connection(connectionTo(url, { query_timeout: 60_000, application_name: 'docket export' }));
  // the next statement fails on a lost connection
  client.on('error', () => {});
  const failed = (error: unknown) => {
    const failure = databaseFailure(error, { url, setting: '--url' });
    return isUnavailable(error) ? new Transient(failure.message || String(failure)) : failure;
  };
  await client.connect().catch(throwing(failed));
  const [events, position] = [quoted(table), quoted(`${table}_position`)];
  try {
    await client.query(`create table if not exists ${events} (
      id text primary key, seq bigint not null, kind text not null, item_id text not null, type text not null,
      actor text not null, at timestamptz not null, data jsonb)`);
    await client.query(`create table if not exists ${position} (
      one boolean primary key default true check (one), seq bigint not null, id text not null)`);
  } catch (error) {
    await client.end().catch(() => {});
    throw failed(error);
  }
  return {
    name: table,
    async position() {
      const { rows } = await client.query<{ seq: string; id: string }>(`select seq, id from ${position}`);
      return rows[0] ? { seq: Number(rows[0].seq), id: rows[0].id } : null;
    },
    async write(received) {
      const last = received.at(-1)?.event;
      // one statement is one transaction: nothing can come between the events and their position
      await client.query(
        `with written as (
           insert into ${events} (id, seq, kind, item_id, type, actor, at, data)
           select id, seq, kind, "itemId", type, actor, at, data
             from json_to_recordset($1::json) as x
               (id text, seq bigint, kind text, "itemId" text, type text, actor text, at timestamptz, data jsonb)
           on conflict (id) do update
              set seq = excluded.seq, kind = excluded.kind, item_id = excluded.item_id, type = excluded.type,
                  actor = excluded.actor, at = excluded.at, data = excluded.data)
         insert into ${position} (seq, id) values ($2, $3)
         on conflict (one) do update set seq = excluded.seq, id = excluded.id`,
        [JSON.stringify(received.map(({ event }) => event)), last?.seq, last?.id],
      );
    },
    async erase(items) {
      await client.query(
        `update ${events} e set data = null
           from json_to_recordset($1::json) as x (kind text, "itemId" text)
          where e.kind = x.kind and e.item_id = x."itemId" and e.type <> 'erased' and e.data is not null`,
        [JSON.stringify(items)],
      );
    },
    close: () => client.end(),
  };
}

const quoted = (name: string) => name.split('.').map(pg.escapeIdentifier).join('.');
