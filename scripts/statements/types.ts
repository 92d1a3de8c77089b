import type { Statement } from '../../db/load.ts';
import type { Catalog, Column, Table } from './describe.ts';

/** TypeScript's type of a value that is read, by PostgreSQL's. */
const READ: Record<string, string> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  numeric: 'string',
  text: 'string',
  name: 'string',
  xid8: 'string',
  bytea: 'Buffer',
  timestamptz: 'Date',
  json: 'unknown',
  jsonb: 'unknown',
  void: 'unknown',
  _bool: 'boolean[]',
  _float8: 'number[]',
  _int4: 'number[]',
  _text: 'string[]',
};

/** The same of a value that is sent, where it is another. */
const SENT: Record<string, string> = {
  bytea: 'Uint8Array',
  timestamptz: 'Date | string',
  _bool: '(boolean | null)[]',
  _int4: '(number | null)[]',
  _int8: '(number | null)[]',
  _float8: '(number | null)[]',
  _text: '(string | null)[]',
  _timestamptz: '(Date | string | null)[]',
};

/** In which a column that is never null in its table may be null: the database does not say where. */
const LOOSE = /\b(left|right|full)\s+(outer\s+)?join\b|\bunion\b/i;
/** Takes a composite value apart, which may be null as a whole. */
const COMPOSITE = /\(\w+\.\w+\)\.\*/;

/** Makes the types of db/statements.ts. */
export class Types {
  /** Tables whose rows some statement returns as a whole. */
  readonly tables = new Set<Table>();
  readonly usedColumns = new Set<string>();
  readonly #catalog: Catalog;
  readonly #given: Set<string>;

  /** @param given the keys of db/columns.ts */
  constructor(catalog: Catalog, given: Set<string>) {
    this.#catalog = catalog;
    this.#given = given;
  }

  /** `{ params: …; row: … }` of a statement. */
  async statement(s: Statement): Promise<string> {
    const { parameters, columns } = await this.#catalog.describe(s);
    const missing = s.notNull.filter((name) => !columns.some((c) => c.name === name));
    if (missing.length > 0)
      throw new Error(`${s.name} has no column ${missing.join(', ')}, which it says is never null`);
    const params = this.#params(s, parameters);
    return `{ params: ${params}; row: ${this.#row(s, columns)}${s.moves ? `; moves: ${s.unseen ? "'unseen'" : 'true'}` : ''} }`;
  }

  table({ name, columns }: Table): string {
    const fields = columns.map((c) => `  ${c.name}: ${this.#column([`${name}.${c.name}`], c.type, c.notNull, name)};`);
    return `export interface ${rowName(name)} {\n${fields.join('\n')}\n}`;
  }

  #params(s: Statement, types: string[]): string {
    if (types.length === 0) return '{}';
    if (s.parameters.length === 0) throw new Error(`${s.name}: write its parameters as :name`);
    const fields = s.parameters.map((p, i) => {
      const type = types[i] ?? '';
      if (p.json) return `${p.name}${p.optional ? '?' : ''}: unknown`;
      const sent = SENT[type] ?? READ[type];
      if (type.startsWith('json'))
        throw new Error(`${s.name} has a parameter of type ${type}: write :${p.name}::${type}`);
      if (!sent)
        throw new Error(`parameter ${p.name} of ${s.name} is of type ${type}, which scripts/statements does not know`);
      return p.optional ? `${p.name}?: ${sent} | null` : `${p.name}: ${sent}`;
    });
    return `{ ${fields.join('; ')} }`;
  }

  #row(s: Statement, columns: Column[]): string {
    if (columns.length === 0) return 'never';
    const twice = new Set(columns.map((c) => c.name)).size < columns.length;
    const whole = twice ? undefined : this.#whole(columns);
    const loose = LOOSE.test(s.text);
    const rest = whole ? columns.toSpliced(whole.at, whole.table.columns.length) : columns;
    // of two columns of one name pg keeps the last
    const last = new Map(rest.map((c) => [c.name, c]));
    const fields = [...last.values()].map((c) => {
      const notNull = s.notNull.includes(c.name) || (!loose && c.source?.notNull === true);
      const keys = [`${s.name}.${c.name}`, ...(c.source ? [`${c.source.table}.${c.source.column}`] : [])];
      return `${/^\w+$/.test(c.name) ? c.name : `'${c.name}'`}: ${this.#column(keys, c.type, notNull, s.name)}`;
    });
    const types: string[] = [];
    if (whole) {
      this.tables.add(whole.table);
      const name = rowName(whole.table.name);
      types.push(COMPOSITE.test(s.text) ? `Nullable<${name}>` : name);
    }
    if (fields.length > 0) types.push(`{ ${fields.join('; ')} }`);
    const given = this.#givenFor([`${s.name}.*`]);
    return given ? `Narrowed<${types.join(' & ')}, ${given}>` : types.join(' & ');
  }

  /** The table whose columns are there as a whole, in its own order, and where they begin. */
  #whole(columns: Column[]): { table: Table; at: number } | undefined {
    const bySize = this.#catalog.tables.toSorted((a, b) => b.columns.length - a.columns.length);
    for (const table of bySize.filter((t) => t.columns.length > 1)) {
      for (let at = 0; at + table.columns.length <= columns.length; at++) {
        const fits = table.columns.every((t, i) => {
          const c = columns[at + i];
          return c?.name === t.name && c.type === t.type && (c.source?.table ?? table.name) === table.name;
        });
        if (fits) return { table, at };
      }
    }
    return undefined;
  }

  #column(keys: string[], type: string, notNull: boolean, where: string): string {
    const known = this.#givenFor(keys) ?? READ[type];
    if (!known) throw new Error(`${keys[0]} (${where}) is of type ${type}, which scripts/statements does not know`);
    return notNull || known === 'unknown' ? known : `${known} | null`;
  }

  #givenFor(keys: string[]): string | undefined {
    const key = keys.find((k) => this.#given.has(k));
    if (key === undefined) return undefined;
    this.usedColumns.add(key);
    return `Columns['${key}']`;
  }
}

const rowName = (table: string) => `${table.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Row`;
