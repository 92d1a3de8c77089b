import pg from 'pg';

/** Counts and versions fit a double. A rank may not, and is used only in SQL. */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return readTime;
    if (oid === TEXTS) return readTexts;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

const readAnyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (text: string) => unknown;
const digits = (text: string, at: number) => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 11 * ZERO;
const ZERO = '0'.charCodeAt(0);

/**
 * Reads a time as PostgreSQL writes it in UTC, `2026-11-22 05:06:16.123456+00`, in a third of the usual parser's time: an
 * item's row has ten of them. That parser reads other zones and years, and infinity.
 */
function readTime(text: string): unknown {
  if (text[4] !== '-' || text[10] !== ' ' || !text.endsWith('+00')) return readAnyTime(text);
  const day = Date.UTC(digits(text, 0) * 100 + digits(text, 2), digits(text, 5) - 1, digits(text, 8));
  const seconds = (digits(text, 11) * 60 + digits(text, 14)) * 60 + digits(text, 17);
  // `.1` are 100 ms
  const ms = text.length > 22 ? Number(text.slice(20, Math.min(23, text.length - 3)).padEnd(3, '0')) : 0;
  return new Date(day + seconds * 1000 + ms);
}

const TEXTS: number = 1009;
const readAnyTexts = pg.types.getTypeParser(TEXTS, 'text') as (text: string) => string[];

/** Most of an item's lists are empty. */
const readTexts = (text: string): string[] => (text === '{}' ? [] : readAnyTexts(text));

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S;
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Fields by the names of their columns: `votesToWin` is `votes_to_win`. */
export const asColumns = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value])) as {
    [K in keyof T as Snake<K & string>]: T[K];
  };

type MakeRow = (values: unknown[]) => object;
const makers = new Map<string, { columns: string[]; make: MakeRow }>();

/**
 * The rows of an answer, which come as arrays. From a dozen columns on, V8 keeps objects that are filled column by column,
 * as pg does, as hash tables: slow to make and to read. So each statement has a function that makes its rows by one
 * literal.
 */
export function rowsOf(statement: string, { fields, rows }: pg.QueryArrayResult<unknown[]>): object[] {
  if (rows.length === 0) return [];
  let maker = makers.get(statement);
  // a table may get columns while this runs
  if (maker?.columns.length !== fields.length || fields.some(({ name }, n) => name !== maker?.columns[n])) {
    const columns = fields.map(({ name }) => name);
    const literal = columns.map((name, n) => `${JSON.stringify(name)}: values[${n}]`).join(', ');
    maker = { columns, make: new Function('values', `return { ${literal} };`) as MakeRow };
    makers.set(statement, maker);
  }
  return rows.map(maker.make);
}
