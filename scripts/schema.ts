import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../cli/servers/postgres.ts';
import { migrate } from '../db/migrate.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../db/schema.sql', import.meta.url);
const HEADER = `-- What the migrations and functions of db/ make, for reading. Written by \`npm run schema\`;
-- \`npm run check\` fails when it is not what they make.`;

/** Migrates an empty database on a server of its own and reads its catalog. */
export async function schemaText(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'docket-schema-'));
  chmodSync(dir, 0o755); // as root the database runs as another user
  mkdirSync(join(dir, 'pg'));
  const server = await startPostgres(join(dir, 'pg', 'postgres'), { settings: { fsync: 'off' } });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await migrate(server.url);
    await client.connect();
    const { rows } = await client.query<{ text: string }>(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
    return `${[HEADER, ...rows.map((r) => r.text.replaceAll(/[ \t]+$/gm, ''))].join('\n\n')}\n`;
  } finally {
    await client.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What is different between the committed schema and the migrations. */
export async function checkSchema(): Promise<string[]> {
  return differences('db/schema.sql', committed(FILE), await schemaText());
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, await schemaText());
  console.log('db/schema.sql is written');
}
