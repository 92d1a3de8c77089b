import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { sealed } from '../../db/moving/file.ts';
import { docket, type Ended, folder, ROOT, run } from './cli.ts';

/** A database that nothing was put into, not even the schema. */
export async function emptyDatabase(): Promise<string> {
  const server = inject('postgres');
  return onDatabase(new URL('/postgres', server).href, async (admin) => {
    const { rows } = await admin.query<{ n: string }>(`select nextval('test_file') as n`);
    const name = `moved${rows[0]?.n}`;
    await admin.query(`create database ${name}`);
    return new URL(`/${name}`, server).href;
  });
}

/** Runs a statement on a database, and gives the rows. */
export const rowsOf = async <T extends pg.QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<T[]> => onDatabase(url, async (client) => (await client.query<T>(text, values)).rows);

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** `docket dump` into a file of this name; its path. */
export async function dumped(url: string, name: string): Promise<string> {
  const file = join(folder, name);
  rmSync(file, { force: true });
  const { code, stderr } = await docket(['dump', file], { DATABASE_URL: url });
  if (code !== 0) throw new Error(`docket dump: ${stderr}`);
  return file;
}

export const loaded = (url: string, file: string): Promise<Ended> => docket(['load', file], { DATABASE_URL: url });

/** The same from standard input. */
export const loadedByPipe = (url: string, file: string): Promise<Ended> =>
  run(['sh', '-c', `exec "${process.execPath}" cli/docket.mjs load < "${file}"`], { DATABASE_URL: url }, ROOT);

/** The rows of each table of a dump, sorted, and its sequences. */
export function tablesOf(file: string): Record<string, string[]> {
  const [, ...parts] = readFileSync(file, 'utf8').split(/^table /m);
  const tables = parts.map((part): [string, string[]] => {
    const [head = '', ...rows] = part.slice(0, part.search(/^\\\.$/m)).split('\n');
    return [JSON.parse(head).name, rows.slice(0, -1).sort()];
  });
  const sequences =
    parts
      .at(-1)
      ?.split('\n')
      .filter((line) => line.startsWith('sequence ')) ?? [];
  return { ...Object.fromEntries(tables), sequences };
}

/** A dump that is whole, but of which something is otherwise: what `change` makes of its text before the last line. */
export async function resealed(file: string, name: string, change: (text: string) => string): Promise<string> {
  const text = change(readFileSync(file, 'utf8').replace(/end \{[^\n]*\n$/, ''));
  const chunks: Buffer[] = [];
  const whole = async function* () {
    yield Buffer.from(text);
  };
  for await (const chunk of sealed(whole())) chunks.push(chunk);
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(chunks));
  return path;
}
