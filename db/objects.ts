import { readFileSync } from 'node:fs';

/** The lines of db/schema.sql that create an object, by its sort. */
const MAKES: [what: string, line: RegExp][] = [
  ['table', /^create table (\w+)/gm],
  ['view', /^create view (\w+)/gm],
  ['sequence', /^create sequence (\w+)/gm],
  ['index', /^create (?:unique )?index (\w+)/gim],
  ['constraint', /^ {2}constraint (\w+)/gm],
  ['trigger', /^create trigger (\w+)/gim],
];

/** All objects of this release's schema but functions, named as by the statement `present_objects`: `index item_wake`. */
export function schemaObjects(): string[] {
  const schema = readFileSync(new URL('schema.sql', import.meta.url), 'utf8');
  return MAKES.flatMap(([what, line]) => [...schema.matchAll(line)].map(([, name]) => `${what} ${name}`));
}
