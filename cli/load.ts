import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Config } from '../runtime/config.ts';
import { checkDump, load } from '../runtime/database.ts';
import { reasonOf } from '../runtime/failures.ts';
import { Misused } from './command.ts';
import { withStoreUrl } from './database.ts';

const CHUNK = 1024 * 1024;
const STDIN = 'standard input';

/**
 * `docket load`: an empty database from a file of `docket dump`, or from standard input.
 * @throws Misused where neither is given
 */
export async function loadCommand(config: Config, file: string | undefined): Promise<void> {
  if (file === undefined && process.stdin.isTTY)
    throw new Misused('the file is missing: name one that docket dump has written, or give it on standard input');
  await withStoreUrl(config, async (url) => {
    // all of it first, so that an incomplete file changes nothing; a pipe can be read only once
    if (file !== undefined && (await isFile(file))) await checkDump(chunksOf(file), file);
    const { rows, docket, at } = await load(url, chunksOf(file), file ?? STDIN, (line) => console.log(line));
    const all = [...rows.values()].reduce((sum, n) => sum + n, 0);
    console.log(`${all} rows are loaded, ${rows.get('item') ?? 0} of them items, as of ${at} (Docket ${docket}).
Processes that run on this database, or the first that starts, put back workflows, schedules and deliveries; then run
docket doctor.`);
  });
}

const isFile = async (file: string) => (await stat(file).catch((error: unknown) => fail(file, error))).isFile();

async function* chunksOf(file: string | undefined): AsyncGenerator<Buffer> {
  try {
    yield* file === undefined ? process.stdin : createReadStream(file, { highWaterMark: CHUNK });
  } catch (error) {
    fail(file ?? STDIN, error);
  }
}

function fail(name: string, error: unknown): never {
  throw new Error(`cannot read ${name} (${reasonOf(error)}); name a file that docket dump has written`, {
    cause: error,
  });
}
