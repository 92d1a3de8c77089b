import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A statement of db/queries, as it is written there but for its parameters. */
export interface Statement {
  name: string;
  /** With `$1`, `$2`, … for the named parameters, in the order of `parameters`. */
  text: string;
  parameters: Parameter[];
  /** Marked `:moves` behind its name: it changes rows of `item`, or keeps callbacks of reviews. */
  moves: boolean;
  /** Marked `:unseen` as well: there is nothing to publish at its commit. */
  unseen: boolean;
  /** Columns named `"a!"`, or in a line `-- not null: a, b`: never null, though the database cannot know. */
  notNull: string[];
}

interface Parameter {
  name: string;
  /** Written `:name?`: it may be null or left out. */
  optional: boolean;
  /** Written `:name::json` or `:name::jsonb`: any value, sent as its JSON text. */
  json: boolean;
}

const FOLDER = fileURLToPath(new URL('queries/', import.meta.url));

/** Lists of columns by name, each with its columns, or `{other}` for all of another list. */
type Lists = Map<string, string[]>;

/**
 * Strings, names, comments and casts, in which a colon or brace has no meaning here; else a parameter, or a list of
 * columns: `{list}`, or `{i.list}` for the columns of `i`.
 */
const TOKEN =
  /'(?:[^']|'')*'|"[^"]*"|--.*|\/\*[\s\S]*?\*\/|::|:([a-z]\w*)(\??)(::jsonb?\b(?!\[))?|\{(?:(\w+)\.)?([a-z]\w*)\}/gi;

/**
 * Reads db/queries/*.sql. Each `-- name: x` starts a statement that reaches to the next one, and each `-- columns: x` a
 * list of columns that several statements share.
 * @returns the statements by name, file by file
 * @throws when two statements have the same name
 */
export function loadStatements(): Map<string, Statement> {
  const found = new Map<string, Statement>();
  for (const statement of readStatements(sqlFiles(FOLDER).map((file) => readFileSync(FOLDER + file, 'utf8')))) {
    if (found.has(statement.name)) throw new Error(`two statements are named ${statement.name}`);
    found.set(statement.name, statement);
  }
  return found;
}

/** The names of a folder's SQL files, in order. */
export const sqlFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();

/** The statements of these files' texts. */
export function readStatements(files: string[]): Statement[] {
  const lists: Lists = new Map();
  const all = files.map((file) => (file.startsWith('-- calls\n') ? withCalls(file) : file));
  for (const [name, text] of all.flatMap((file) => partsOf(file, 'columns')))
    lists.set(name, text.replaceAll(/^--.*/gm, '').match(/[\w{}]+/g) ?? []);
  return all.flatMap((file) => partsOf(file, 'name')).map(([name, text]) => readStatement(name, text, lists));
}

const CALL = /^((\w+)\(.*\)(?: as \S+)?)((?: :[a-z]+)*)(?: (-- not null: .*))?$/gm;

/** A file of calls, a line each: `name(:a) as "n!" :moves -- not null: b`, as the statements that they stand for. */
const withCalls = (file: string) =>
  file.replaceAll(/^--.*\n/gm, '').replaceAll(CALL, '-- name: $2$3\n$4\nselect * from $1;');

/** The parts of a file that begin with `-- name: x` or `-- columns: x`, by name, without their last semicolon. */
const partsOf = (file: string, what: string): [name: string, text: string][] =>
  file.split(/^-- (?=(?:name|columns): )/m).flatMap((part) => {
    const [, kind, name = '', text = ''] = /^(name|columns): (.*)\n([\s\S]*)$/.exec(part) ?? [];
    return kind === what ? [[name.trim(), text.trim().replace(/;$/, '')]] : [];
  });

function columnsOf(lists: Lists, name: string, of: string | undefined): string {
  const columns = lists.get(name);
  if (!columns) throw new Error(`no list of columns is named ${name}`);
  const prefix = of === undefined ? '' : `${of}.`;
  const shown = (column: string) => {
    const other = /^\{(\w+)\}$/.exec(column)?.[1];
    return other === undefined ? prefix + column : columnsOf(lists, other, of);
  };
  return columns.map(shown).join(', ');
}

function readStatement(head: string, written: string, lists: Lists): Statement {
  const [name = '', ...marks] = head.split(' ');
  const parameters: Parameter[] = [];
  const notNull = [...written.matchAll(/^-- not null: (.+)$/gm)].flatMap(([, names = '']) => names.split(/, */));
  const text = written.replace(TOKEN, (token, parameter?: string, mark = '', cast = '', of?: string, list?: string) => {
    if (list !== undefined) return columnsOf(lists, list, of);
    if (token.endsWith('!"')) {
      notNull.push(token.slice(1, -2));
      return `${token.slice(0, -2)}"`;
    }
    if (parameter === undefined) return token;
    const known = parameters.find((p) => p.name === parameter) ?? { name: parameter, optional: false, json: false };
    known.optional ||= mark !== '';
    known.json ||= cast !== '';
    if (!parameters.includes(known)) parameters.push(known);
    return `$${parameters.indexOf(known) + 1}${cast}`;
  });
  return { name, text, parameters, moves: marks.includes(':moves'), unseen: marks.includes(':unseen'), notNull };
}
