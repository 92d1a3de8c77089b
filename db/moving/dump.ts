import pg from 'pg';
import { to } from 'pg-copy-streams';
import { MIGRATE_LOCK } from '../migrate.ts';
import { END_OF_ROWS, headerLine, sealed, sequenceLine, type Table, tableLine } from './file.ts';
import { connect, differences, INSTEAD, schemaOf, sequencesIn, tablesIn } from './tables.ts';

/**
 * A database as of one instant, as the bytes of a file that `load` takes. Processes may run meanwhile: no call waits for it.
 * @param docket the version of this program
 * @throws Error where the schema is not that of this program
 */
export const dump = (url: string, docket: string): AsyncGenerator<Buffer> => sealed(partsOf(url, docket));

async function* partsOf(url: string, docket: string): AsyncGenerator<Buffer> {
  const client = await connect(url, 'docket dump');
  try {
    // shared: migrations wait for it, other dumps don't
    await client.query('select pg_advisory_lock_shared($1)', [MIGRATE_LOCK]);
    await client.query('begin isolation level repeatable read read only');
    const schema = await schemaOf(client);
    const { later, earlier } = differences(schema.edition, schema.migrations);
    if (later)
      throw new Error(
        `the database was migrated by a later version of Docket (edition ${schema.edition}); dump it with that version`,
      );
    if (earlier) throw new Error('the schema is older than this program; run docket migrate first');
    const { rows } = await client.query<{ at: string }>(
      `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
    );
    yield headerLine({ docket, ...schema, at: rows[0]?.at ?? '' });
    for (const table of await tablesIn(client)) {
      yield tableLine(table);
      const rows = client.query(to(copyOf(table)));
      yield* rows as AsyncIterable<Buffer>;
      const { name } = table;
      const there = await client.query<{ n: string }>(`select count(*) as n from ${pg.escapeIdentifier(name)}`);
      if (rows.rowCount !== Number(there.rows[0]?.n))
        throw new Error(
          `${name} has ${there.rows[0]?.n} rows, and ${rows.rowCount} were written: the dump is not complete`,
        );
      yield END_OF_ROWS;
    }
    for (const sequence of await sequencesIn(client)) yield sequenceLine(sequence);
  } finally {
    await client.end();
  }
}

function copyOf({ name, columns }: Table): string {
  const values = columns.map((column) => INSTEAD[name]?.[column] ?? pg.escapeIdentifier(column));
  return `copy (select ${values.join(', ')} from ${pg.escapeIdentifier(name)}) to stdout`;
}
