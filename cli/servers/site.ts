import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { needFolder } from '../../runtime/failures.ts';

/** Beside compiled code; beside sources this is the folder of the console's own sources, which has no site.json. */
const COMPILED = fileURLToPath(new URL('../../web', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const isWhole = (folder: string) => existsSync(join(folder, 'site.json'));

/**
 * The folder with the console's files. Compiled code has it with it. From sources it is built once for these very
 * sources and packages and kept in the cache, by a process of its own, so that the start does not wait for it.
 * @param signal ends the build
 * @throws Error with the builder's output
 */
export async function findSite(cacheDir: string, signal?: AbortSignal): Promise<string> {
  if (isWhole(COMPILED)) return COMPILED;
  const folder = join(cacheDir, `console-${sourceHash()}`);
  if (!isWhole(folder)) await build(folder, cacheDir, signal);
  return folder;
}

/** Of names and contents of web/, and of the packages that it is built with. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(ROOT, 'web'), { recursive: true, withFileTypes: true });
  const files = sources.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of [...files.sort(), join(ROOT, 'package-lock.json')])
    for (const part of [file.slice(ROOT.length), '\0', readFileSync(file), '\0']) hash.update(part);
  return hash.digest('hex').slice(0, 16);
}

/** Into a folder of its own first: several processes may build at once, and one may be killed. */
async function build(folder: string, cacheDir: string, signal: AbortSignal | undefined): Promise<void> {
  needFolder(cacheDir, 'DOCKET_CACHE');
  const making = mkdtempSync(join(cacheDir, 'console-making-'));
  try {
    await runVite(making, signal);
    renameSync(making, folder);
  } catch (error) {
    // another process was first
    if (!isWhole(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

async function runVite(outDir: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const args = ['build', '--config', 'web/vite.config.ts', '--configLoader', 'runner', '--logLevel', 'warn'];
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, ...args, '--outDir', outDir], { cwd: ROOT, env, signal }).catch(
    ({ message, stdout = '', stderr = '' }) => {
      throw new Error(`the console could not be built:\n${stdout + stderr || message}`);
    },
  );
}
