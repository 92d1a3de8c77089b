import type pg from 'pg';
import type { Statement } from '../../db/load.ts';

/** What PostgreSQL says of a statement: types by their names in pg_type. */
interface Description {
  parameters: string[];
  columns: Column[];
}

export interface Column {
  name: string;
  type: string;
  /** Where it comes from, if it is a column as it is. */
  source: { table: string; column: string; notNull: boolean } | null;
}

/** A table or view: its columns in order. */
export interface Table {
  name: string;
  columns: { name: string; type: string; notNull: boolean }[];
}

export interface Catalog {
  tables: Table[];
  describe(statement: Statement): Promise<Description>;
}

export async function readCatalog(client: pg.Client): Promise<Catalog> {
  const types = await client.query<{ oid: number; name: string }>('select oid, typname as name from pg_type');
  const typeNames = new Map(types.rows.map((t) => [t.oid, t.name]));
  const typeOf = (oid: number) => typeNames.get(oid) ?? `${oid}`;
  const attributes = await client.query<{
    oid: number;
    n: number;
    name: string;
    type: number;
    table: string;
    not_null: boolean;
  }>(
    `select c.oid, a.attnum as n, a.attname as name, a.atttypid as type, c.relname as table, a.attnotnull as not_null
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'p') order by c.relname, a.attnum`,
  );
  const tables = new Map<string, Table>();
  for (const a of attributes.rows) {
    const table = tables.get(a.table) ?? { name: a.table, columns: [] };
    table.columns.push({ name: a.name, type: typeOf(a.type), notNull: a.not_null });
    tables.set(a.table, table);
  }
  const sources = new Map(attributes.rows.map((a) => [`${a.oid}.${a.n}`, a]));
  return {
    tables: [...tables.values()],
    async describe({ name, text }) {
      const { parameters, fields } = await describeText(client, text).catch((error: Error) => {
        throw new Error(`statement ${name}: ${error.message}`);
      });
      return {
        parameters: parameters.map(typeOf),
        columns: fields.map((f) => {
          const s = sources.get(`${f.tableID}.${f.columnID}`);
          return {
            name: f.name,
            type: typeOf(f.dataTypeID),
            source: s ? { table: s.table, column: s.name, notNull: s.not_null } : null,
          };
        }),
      };
    },
  };
}

interface Described {
  parameters: number[];
  fields: pg.FieldDef[];
}

/** Parses and describes a text without running it (extended protocol). */
function describeText(client: pg.Client, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    const found: Described = { parameters: [], fields: [] };
    // what pg calls on the query that it has been given, beside `submit`
    const query = {
      submit(connection: pg.Connection) {
        connection.once('parameterDescription', (m: { dataTypeIDs: number[] }) => {
          found.parameters = m.dataTypeIDs;
        });
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription(m: { fields: pg.FieldDef[] }) {
        found.fields = m.fields;
      },
      handleReadyForQuery: () => resolve(found),
      handleError: reject,
    };
    client.query(query);
  });
}
