import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as retention from '../../services/upkeep/retention.ts';
import { eventually, type Json, ndjson } from './client.ts';
import type { TestSystem } from './system.ts';

type Cleared = Pick<TestSystem, 'running' | 'sql'>;

/** Makes what is over, or quiet, of these ids as old as if so many days had passed since. @param like for `like` */
export async function age({ sql }: Cleared, like: string, days: number): Promise<void> {
  for (const [table, from, to, more] of [
    ['item', 'created_at', 'ended_at', 'and ended_at is not null'],
    ['review', 'created_at', 'updated_at', ''],
    ['task', 'start_time', 'updated_at', ''],
  ]) {
    const earlier = [from, to].map((column) => `${column} = ${column} - $2 * interval '1 day'`);
    await sql(`update ${table} set ${earlier} where id like $1 ${more}`, [like, days]);
  }
}

/** Stops retention in the background, so that items are cleared only when a test asks for it. */
export const byHand = ({ running }: Pick<Cleared, 'running'>) => retention.stop(running.ctx);

/** Clears until so many items, reviews and tasks are gone: nothing is that is not published yet. */
export async function clear({ running }: Cleared, n: number): Promise<void> {
  let cleared = 0;
  await eventually(async () => {
    cleared += await retention.clear(running.ctx);
    return cleared >= n;
  });
  if (cleared !== n) throw new Error(`${cleared} were cleared instead of ${n}`);
}

/** The files of an archive, by their paths in it. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** All lines of an archive. */
export const linesOf = (folder: string): Json[] =>
  filesOf(folder).flatMap((file) => ndjson(gunzipSync(readFileSync(join(folder, file))).toString()));
