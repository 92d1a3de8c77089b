import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needFolder } from '../../runtime/failures.ts';

/** Beside compiled code; beside sources this is the folder of the console's own sources, which has no site.json. */
const COMPILED = fileURLToPath(new URL('../../web', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const isWhole = (folder: string) => existsSync(join(folder, 'site.json'));

/**
 * The folder with the console's files: compiled code has it with it; from sources it is built once for these very sources and
 * kept in the cache, in a process of its own, so that the start doesn't wait for it.
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
  const names = readdirSync(join(ROOT, 'web'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const name of [...names, join(ROOT, 'package-lock.json')])
    hash.update(name.slice(ROOT.length)).update('\0').update(readFileSync(name)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** Into a folder of its own first: several processes may build at once, and one may be killed. */
async function build(folder: string, cacheDir: string, signal: AbortSignal | undefined): Promise<void> {
  needFolder(cacheDir, 'DOCKET_CACHE');
  const making = mkdtempSync(join(cacheDir, 'console-making-'));
  try {
    await run(making, signal);
    renameSync(making, folder);
  } catch (error) {
    // another process was first
    if (!isWhole(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function run(outDir: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const child: ChildProcess = spawn(
    process.execPath,
    [
      vite,
      'build',
      '--config',
      'web/vite.config.ts',
      '--configLoader',
      'runner',
      '--outDir',
      outDir,
      '--logLevel',
      'warn',
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'production' }, signal },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the console could not be built:\n${said}`));
    });
  });
}
