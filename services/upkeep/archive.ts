import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/** Where what is cleared is kept: a folder, with one for each kind and day in it. */
export class Archive {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Writes items, a line of JSON each, as a compressed file that is on the disk when this returns. A file that has its name is
   * whole, so it may be moved away at any time.
   * @throws what the file system says
   */
  async write(kind: string, lines: readonly { line: string }[]): Promise<void> {
    const now = new Date().toISOString();
    const folder = join(this.#folder, kind, now.slice(0, 10));
    const made = await mkdir(folder, { recursive: true });
    const path = join(folder, `${now.replaceAll(':', '')}-${randomUUID()}.ndjson.gz`);
    const partial = `${path}.partial`;
    try {
      const file = await open(partial, 'wx', 0o640);
      try {
        await file.writeFile(await compress(lines.map(({ line }) => `${line}\n`).join('')));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
      for (let last = folder; ; last = dirname(last)) {
        await syncFolder(last);
        if (!made || last === dirname(made)) break;
      }
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }
}

/** A new name is only as lasting as the folder that it stands in. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
