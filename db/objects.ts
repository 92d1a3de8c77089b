import { readFileSync } from 'node:fs';

/** A line of db/schema.sql that makes something, and what that is called. */
const MAKES: [what: string, line: RegExp][] = [
  ['table', /^create table (\w+)/gm],
  ['view', /^create view (\w+)/gm],
  ['sequence', /^create sequence (\w+)/gm],
  ['index', /^create (?:unique )?index (\w+)/gim],
  ['constraint', /^ {2}constraint (\w+)/gm],
  ['trigger', /^create trigger (\w+)/gim],
];

/** All that this release's schema consists of but functions, as the statement `present_objects` names it: `index item_wake`. */
export function schemaObjects(): string[] {
  const schema = readFileSync(new URL('schema.sql', import.meta.url), 'utf8');
  return MAKES.flatMap(([what, line]) => [...schema.matchAll(line)].map(([, name]) => `${what} ${name}`));
}
