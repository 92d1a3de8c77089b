import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A statement of db/queries, as it is written there but for its parameters. */
export interface Statement {
  name: string;
  /** With `$1`, `$2`, … for the named parameters, in the order of `parameters`. */
  text: string;
  parameters: Parameter[];
  /** Marked `-- moves`: it changes rows of `item`, or keeps callbacks of reviews. */
  moves: boolean;
  /** Marked `-- moves: unseen`: there is nothing to publish at its commit. */
  unseen: boolean;
  /** Columns that `-- not null: a, b` names: never null, though the database cannot know. */
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

/** What a colon may be part of without starting a parameter (strings, names, comments, casts), or a parameter. */
const TOKEN = /'(?:[^']|'')*'|"[^"]*"|--.*|\/\*[\s\S]*?\*\/|::|:([a-z]\w*)(\??)(::jsonb?\b(?!\[))?/gi;

/**
 * Reads db/queries/*.sql. Each `-- name: x` starts a statement that reaches to the next one.
 * @returns the statements by name, file by file
 * @throws when two statements have the same name
 */
export function loadStatements(): Map<string, Statement> {
  const found = new Map<string, Statement>();
  for (const file of readdirSync(FOLDER)
    .filter((f) => f.endsWith('.sql'))
    .sort()) {
    for (const statement of readStatements(readFileSync(FOLDER + file, 'utf8'))) {
      if (found.has(statement.name)) throw new Error(`two statements are named ${statement.name}`);
      found.set(statement.name, statement);
    }
  }
  return found;
}

/** The statements of one file's text. */
export function readStatements(file: string): Statement[] {
  const [, ...parts] = file.split(/^-- name: /m);
  return parts.map((part) => {
    const end = part.indexOf('\n');
    return readStatement(
      part.slice(0, end).trim(),
      part
        .slice(end + 1)
        .trim()
        .replace(/;$/, ''),
    );
  });
}

function readStatement(name: string, written: string): Statement {
  const parameters: Parameter[] = [];
  const text = written.replace(TOKEN, (token, parameter?: string, mark = '', cast = '') => {
    if (parameter === undefined) return token;
    const known = parameters.find((p) => p.name === parameter) ?? { name: parameter, optional: false, json: false };
    known.optional ||= mark !== '';
    known.json ||= cast !== '';
    if (!parameters.includes(known)) parameters.push(known);
    return `$${parameters.indexOf(known) + 1}${cast}`;
  });
  return {
    name,
    text,
    parameters,
    moves: /^-- moves(: unseen)?$/m.test(written),
    unseen: /^-- moves: unseen$/m.test(written),
    notNull: /^-- not null: (.+)$/m.exec(written)?.[1]?.split(/, */) ?? [],
  };
}
