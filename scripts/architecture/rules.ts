import type { Source } from './source.ts';

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;
const MAX_SQL_COLUMNS = 120;

/** Files and functions that have grown too long to be read at once. */
export function checkSizes({ path, lines, functions }: Source): string[] {
  const found = checkLength(path, lines);
  for (const f of functions) {
    // the body of `describe` is a list of tests, not a function to be understood as a whole
    if (f.lines <= MAX_FUNCTION_LINES || /^describe/.test(f.calledBy ?? '')) continue;
    found.push(`${path}:${f.line} ${f.name} has ${f.lines} lines; at most ${MAX_FUNCTION_LINES}`);
  }
  return found;
}

export function checkLength(path: string, lines: number): string[] {
  return lines <= MAX_FILE_LINES ? [] : [`${path} has ${lines} lines; at most ${MAX_FILE_LINES}`];
}

/** Lines of SQL that are too wide to be read. Migrations up to 0081 stay as they were released. */
export function checkColumns(path: string, text: string): string[] {
  const migration = /^db\/migrations\/(\d{4})/.exec(path)?.[1];
  if (migration === undefined ? !/^db\/(functions|queries)\//.test(path) : migration < '0082') return [];
  return text
    .split('\n')
    .flatMap((line, at) =>
      line.length <= MAX_SQL_COLUMNS
        ? []
        : [`${path}:${at + 1} has ${line.length} columns; at most ${MAX_SQL_COLUMNS}`],
    );
}

const SQL = new RegExp(
  [
    String.raw`^\s*(select|with)\b[\s\S]+\bfrom\b`,
    String.raw`^\s*select\s+(\w+\s*\(|[*$'\d])`,
    String.raw`\binsert\s+into\b|\bupdate\s+\S+\s+set\b|\bdelete\s+from\b`,
    String.raw`^\s*(create|alter|drop|truncate)\s+(table|index|database|schema|function|sequence)\b`,
  ].join('|'),
  'i',
);
const SQL_FOLDERS = new Set(['db', 'test', 'bench']);
/** They make the database in which db/ can work, describe its statements, or write to a database that is not Docket's. */
const SQL_FILES =
  /^(cli\/servers\/postgres\.ts$|cli\/exporting\/(mysql|postgres)\.ts$|cli\/outbox\/|examples\/sql-outbox\.ts$|scripts\/statements\/)/;

/** Statements outside of db/. */
export function checkSql({ path, strings }: Source): string[] {
  if (SQL_FOLDERS.has(folderOf(path)) || SQL_FILES.test(path)) return [];
  const statements = strings.filter((s) => SQL.test(s.value));
  return statements.map((s) => `${path}:${s.line} SQL belongs into db/: ${s.value.trim().slice(0, 60)}`);
}

const UNFINISHED = /\b(TODO|FIXME|XXX|HACK|WIP|TBD)\b|\bnot (yet )?implemented\b|\bfor now\b/;

/** Comments that say that something is left to do: do it, or file it. */
export function checkWords({ path, comments }: Pick<Source, 'path' | 'comments'>): string[] {
  const found = comments.filter((c) => UNFINISHED.test(c.value));
  return found.map((c) => `${path}:${c.line} a comment says "${UNFINISHED.exec(c.value)?.[0]}"`);
}

/** What the SDK's own workflow library brings along; everything else has no business in workflow code. */
const BUNDLED = /^\.\/(workflows|domain|contract|node_modules\/(@temporalio\/\w[\w-]*|nexus-rpc|ms|long))\//;

/** Modules of a workflow bundle that must not be in it: libraries, Node's modules, I/O. */
export function checkBundle(code: string): string[] {
  const modules = [...code.matchAll(/^\/\*{3}\/ "([^"]+)"/gm)].map((m) => m[1] ?? '');
  if (!modules.some((m) => m.startsWith('./workflows/'))) return ['the workflow bundle lists no module of workflows/'];
  // "?2065" is an empty stand-in for something the bundler leaves out on purpose
  const foreign = modules.filter((m) => !BUNDLED.test(m) && !/^\?[0-9a-f]+$/.test(m));
  return foreign.map((m) => `the workflow bundle contains ${m}`);
}

const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');
