import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../runtime/config.ts';
import { dump } from '../runtime/database.ts';
import { reasonOf } from '../runtime/failures.ts';
import { VERSION } from '../runtime/version.ts';
import { withStoreUrl } from './database.ts';

const OWNER_ONLY = 0o600;

/** `docket dump`: all of the database to a file, or to standard output. */
export async function dumpCommand(config: Config, file: string | undefined): Promise<void> {
  await withStoreUrl(config, async (url) => {
    if (file === undefined) return write('standard output', process.stdout, dump(url, VERSION));
    // an existing file may be the previous backup
    const handle = await open(file, 'wx', OWNER_ONLY).catch((error: unknown) => {
      throw unwritable(file, error);
    });
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
