import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { needFolder, reasonOf } from '../../runtime/failures.ts';
import { runToEnd } from './children.ts';
import { freePort } from './ports.ts';

const VERSION = '1.5.1';
/** Its own driver can get stuck, and then answers everything with `interrupted (9)` (temporalio/temporal#9198). */
const SQLITE_VERSION = '1.44.3';
const MODULE = 'github.com/temporalio/cli';
const BUILD = `temporal-${VERSION}-sqlite-${SQLITE_VERSION}`;

export interface CliSearch {
  /** `TEMPORAL_CLI`. */
  given: string | undefined;
  cacheDir: string;
  say: (line: string) => void;
  /** Ends the search. */
  signal?: AbortSignal;
}

/**
 * Finds the `temporal` program: the one given, one on the PATH, the cache, the SDK's download, and
 * where its host can't be reached, a build with Go. Says which way is taken, because the last two
 * take a while the first time.
 * @throws Error that says what to do when there is no way
 */
export async function findTemporalCli({ given, cacheDir, say, signal }: CliSearch): Promise<string> {
  if (given !== undefined) {
    needProgram(given);
    return given;
  }
  const exe = process.platform === 'win32' ? '.exe' : '';
  const onPath = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, `temporal${exe}`));
  const found = onPath.find((path) => existsSync(path));
  if (found) return found;
  const cached = join(cacheDir, `${BUILD}${exe}`);
  if (existsSync(cached)) return cached;
  needFolder(cacheDir, 'DOCKET_CACHE');
  return (await download(cacheDir, say, signal)) ?? (await build({ cacheDir, target: cached, say, signal }));
}

/** @throws Error where TEMPORAL_CLI is not a program that can be run */
function needProgram(path: string): void {
  try {
    accessSync(path, constants.X_OK);
    if (statSync(path).isFile()) return;
  } catch (error) {
    throw new Error(
      `TEMPORAL_CLI: cannot run ${path} (${reasonOf(error)}); set it to the path of the temporal program`,
    );
  }
  throw new Error(`TEMPORAL_CLI: ${path} is not a program; set it to the path of the temporal program`);
}

/** The SDK downloads into the folder it is given; what it is called there is its own affair. */
async function download(
  cacheDir: string,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const folder = join(cacheDir, 'download');
  const earlier = programIn(folder);
  if (earlier) return earlier;
  mkdirSync(folder, { recursive: true });
  say('Temporal: downloading its development server (about 100 MB, once) …');
  try {
    const server = { executable: { type: 'cached-download' as const, downloadDir: folder }, port: await freePort() };
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const downloading = TestWorkflowEnvironment.createLocal({ server }).then((started) => started.teardown());
    await Promise.race([downloading, ...(signal ? [rejected(signal)] : [])]);
    return programIn(folder);
  } catch (error) {
    signal?.throwIfAborted();
    say(`Temporal: it cannot be downloaded from here (${(error as Error).message.split('\n')[0]})`);
    return undefined;
  }
}

/** Rejects when the signal is aborted: the SDK's download takes none. */
const rejected = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });

/** Its whole downloads only: one that was interrupted stays there under a name of its own. */
function programIn(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names.find((f) => f.startsWith('temporal-') && !f.endsWith('.downloading'));
  return name && join(folder, name);
}

interface Build extends Pick<CliSearch, 'cacheDir' | 'say' | 'signal'> {
  target: string;
}

/** Within a module of its own, because `go install` takes the driver that the program names. */
async function build({ cacheDir, target, say, signal }: Build): Promise<string> {
  signal?.throwIfAborted();
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    throw new Error(
      'Temporal: no `temporal` program, and no way to get one here. Install its CLI (docs.temporal.io/cli), ' +
        'or set TEMPORAL_CLI to it, or TEMPORAL_ADDRESS to a running server.',
    );
  }
  say('Temporal: building its development server with Go (3 to 5 minutes and 250 MB, once) …');
  const started = Date.now();
  const clock = setInterval(
    () => say(`Temporal: still building, ${Math.round((Date.now() - started) / 1000)} s`),
    20_000,
  );
  const folder = join(cacheDir, 'go-build');
  const env = { ...process.env, GOFLAGS: '-modcacherw -mod=mod' };
  const go = (...args: string[]) =>
    runToEnd({ command: 'go', args, cwd: folder, env, signal: 'SIGINT', graceMs: 5_000 }, signal);
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    await go('mod', 'init', 'docket.local/temporal');
    await go('get', `${MODULE}@v${VERSION}`, `modernc.org/sqlite@v${SQLITE_VERSION}`);
    await go('build', '-ldflags=-s', '-o', 'temporal', `${MODULE}/cmd/temporal`);
  } finally {
    clearInterval(clock);
  }
  renameSync(join(folder, 'temporal'), target);
  rmSync(folder, { recursive: true });
  say(`Temporal: built in ${Math.round((Date.now() - started) / 1000)} s, kept in ${target}`);
  return target;
}
