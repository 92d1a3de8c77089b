import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../runtime/config.ts';
import { checkDump, dump, load } from '../runtime/database.ts';
import { reasonOf, throwing } from '../runtime/failures.ts';
import { VERSION } from '../runtime/version.ts';
import { Misused } from './command.ts';
import { withStoreUrl } from './database.ts';

const OWNER_ONLY = 0o600;

/** `docket dump`: all of the database to a file, or to standard output. */
export async function dumpCommand(config: Config, file: string | undefined): Promise<void> {
  await withStoreUrl(config, async (url) => {
    if (file === undefined) return write('standard output', process.stdout, dump(url, VERSION));
    // an existing file may be the previous backup
    const handle = await open(file, 'wx', OWNER_ONLY).catch(throwing((error) => unwritable(file, error)));
    try {
      await write(file, handle.createWriteStream({ flush: true }), dump(url, VERSION));
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
    console.log(
      `${file} is written. It holds secrets of callbacks and hashes of keys: keep it as you keep the database.`,
    );
  });
}

/** @throws Error that says why it cannot be written; errors of the database as they are */
async function write(name: string, out: NodeJS.WritableStream, chunks: AsyncIterable<Buffer>): Promise<void> {
  let failure: unknown;
  const read = async function* () {
    try {
      yield* chunks;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  await pipeline(read, out, { end: out !== process.stdout }).catch((error: unknown) => {
    throw error === failure ? error : unwritable(name, error);
  });
}

function unwritable(name: string, error: unknown): Error {
  const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
  const why = isThere ? 'it is there already' : reasonOf(error);
  return new Error(`cannot write to ${name} (${why}); name another file`, { cause: error });
}

const CHUNK_BYTES = 1024 * 1024;
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

const isFile = async (file: string) => (await stat(file).catch((error: unknown) => unreadable(file, error))).isFile();

async function* chunksOf(file: string | undefined): AsyncGenerator<Buffer> {
  try {
    yield* file === undefined ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
  } catch (error) {
    unreadable(file ?? STDIN, error);
  }
}

function unreadable(name: string, error: unknown): never {
  throw new Error(`cannot read ${name} (${reasonOf(error)}); name a file that docket dump has written`, {
    cause: error,
  });
}
