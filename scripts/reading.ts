import { readFileSync, writeFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { committed, differences } from './architecture/drift.ts';
import { linesIn } from './architecture/source.ts';

const FILE = new URL('../docs/READING.md', import.meta.url);
const ROOT = new URL('../', import.meta.url);
/** More than this is no afternoon's reading. */
const MOST_LINES = 2_000;
/** A row: its number, a file and what to read of it (all of it, or one name), its lines, and what for. */
const ROW = /^\| (\d+) \| `([^`]+)`(?: `([^`]+)`)? \| [\d,]* \| /;

/** The document with the line counts of today. @throws Error for a file or name that is not there */
export function readingText(document: string, read = readCode): string {
  let total = 0;
  const lines = document.split('\n').map((line) => {
    const [start, n, path = '', name] = ROW.exec(line) ?? [];
    if (start === undefined) return line;
    const count = name === undefined ? linesIn(read(path)) : spanOf(path, read(path), name);
    total += count;
    const what = name === undefined ? `\`${path}\`` : `\`${path}\` \`${name}\``;
    return `| ${n} | ${what} | ${count} | ${line.slice(start.length)}`;
  });
  return lines.join('\n').replace(/^Together: .* lines\.$/m, `Together: ${total.toLocaleString('en-US')} lines.`);
}

/** Where the document is not true, or too long to be read. */
export function checkReading(now = committed(FILE), read = readCode): string[] {
  const text = readingText(now, read);
  const total = Number(/^Together: ([\d,]+) lines\.$/m.exec(text)?.[1]?.replaceAll(',', ''));
  const found = differences('docs/READING.md', now, text);
  return total <= MOST_LINES ? found : [...found, `docs/READING.md: ${total} lines; at most ${MOST_LINES}`];
}

const readCode = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The lines of a declaration with the comment above it: a function, a constant, a class or its method, a statement. */
function spanOf(path: string, text: string, name: string): number {
  const lines = path.endsWith('.sql') ? spanInSql(text, name) : spanInCode(path, text, name);
  if (lines === undefined) throw new Error(`docs/READING.md: ${path} has no ${name}`);
  return lines;
}

/** A statement (`-- name: x`) or a database function. */
function spanInSql(text: string, name: string): number | undefined {
  const parts = text.split(/^(?=-- name: |create (?:or replace )?function )/m);
  const head = new RegExp(`^(-- name: |create (or replace )?function )${name}\\b`);
  const part = parts.find((one) => head.test(one));
  return part === undefined ? undefined : linesIn(part.trimEnd());
}

function spanInCode(path: string, text: string, name: string): number | undefined {
  const [outer, inner] = name.split('.');
  const { program, comments } = parseSync(path, text);
  let nodes: Node[] = program.body as unknown as Node[];
  for (const wanted of inner === undefined ? [outer] : [outer, inner]) {
    const found = nodes.find((node) => namesOf(node).includes(wanted ?? ''));
    if (!found) return undefined;
    if (wanted === inner || inner === undefined) {
      const above = comments.findLast((c) => c.end <= found.start && text.slice(c.end, found.start).trim() === '');
      return linesIn(text.slice(above?.start ?? found.start, found.end));
    }
    nodes = (found.declaration ?? found).body?.body ?? [];
  }
  return undefined;
}

/** What is needed of a node of the syntax tree: declarations, exported or not, and members of classes. */
interface Node {
  start: number;
  end: number;
  id?: { name?: string } | null;
  key?: { name?: string };
  declaration?: Node | null;
  declarations?: Node[];
  body?: { body?: Node[] };
}

function namesOf(node: Node): (string | undefined)[] {
  const of = node.declaration ?? node;
  return [of.id?.name, of.key?.name, ...(of.declarations ?? []).map((one) => one.id?.name)];
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, readingText(committed(FILE)));
  console.log('docs/READING.md has the line counts of today');
}
