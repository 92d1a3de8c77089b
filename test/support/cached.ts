import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * A folder of the cache, filled once for all runs.
 * @param made from what it is made: another folder where that changes
 */
export async function cachedFolder(
  name: string,
  made: string,
  fill: (dir: string) => Promise<unknown>,
): Promise<string> {
  const key = createHash('sha256').update(made).digest('hex').slice(0, 12);
  const dir = join(inject('cacheDir'), `${name}-${key}`);
  if (existsSync(join(dir, 'ready'))) return dir;
  process.stdout.write(`bringing ${name} to ${dir}\n`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  await fill(dir);
  writeFileSync(join(dir, 'ready'), '');
  return dir;
}

export const execute = promisify(execFile);
