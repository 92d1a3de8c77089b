import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/**
 * Writes items, one line of JSON each, as a compressed file in `root/kind/day`. The file is on disk when this returns,
 * and complete as soon as it has its name, so it may be moved away at any time.
 * @throws Error of the file system
 */
export async function writeArchive(root: string, kind: string, lines: readonly { line: string }[]): Promise<void> {
  const now = new Date().toISOString();
  const folder = join(root, kind, now.slice(0, 10));
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

/** A new file survives a crash only when its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
