import { readFileSync, writeFileSync } from 'node:fs';
import { committed, differences } from './architecture/drift.ts';
import { onFreshDatabase } from './fresh.ts';

const FILE = new URL('../db/schema.sql', import.meta.url);
const HEADER = `-- The tables, indexes, constraints and triggers that db/migrations make, for reading; functions stand in db/functions.
-- Written by \`npm run schema\`; \`npm run check\` fails when it is not what they make.`;

/** The catalog of a freshly migrated database. */
export async function schemaText(): Promise<string> {
  const query = readFileSync(new URL('schema.sql', import.meta.url), 'utf8');
  const { rows } = await onFreshDatabase((client) => client.query<{ text: string }>(query));
  return `${[HEADER, ...rows.map((r) => r.text.replaceAll(/[ \t]+$/gm, ''))].join('\n\n')}\n`;
}

/** What is different between the committed schema and the migrations. */
export async function checkSchema(): Promise<string[]> {
  return differences('db/schema.sql', committed(FILE), await schemaText());
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, await schemaText());
  console.log('db/schema.sql is written');
}
