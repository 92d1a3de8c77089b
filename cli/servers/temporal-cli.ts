import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
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

interface Search {
  /** `TEMPORAL_CLI`. */
  given: string | undefined;
  cacheDir: string;
  say: (line: string) => void;
  /** Ends the search. */
  signal?: AbortSignal;
}

/**
 * Finds the `temporal` program: the given one, one on the PATH, the cached one, the SDK's download, or, where its host
 * cannot be reached, a build with Go. Prints which of the last two it uses: they take minutes the first time.
 * @throws Error with advice where none of these works
 */
export async function findTemporalCli(search: Search): Promise<string> {
  const { given, cacheDir } = search;
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
  return (await download(search)) ?? (await build(search, cached));
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

/** The SDK downloads into the folder it is given, under a name of its own choice. */
async function download({ cacheDir, say, signal }: Search): Promise<string | undefined> {
  const folder = join(cacheDir, 'download');
  const earlier = programIn(folder);
  if (earlier) return earlier;
  mkdirSync(folder, { recursive: true });
  say('Temporal: downloading its development server (about 100 MB, once) …');
  try {
    const server = { executable: { type: 'cached-download' as const, downloadDir: folder }, port: await freePort() };
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    signal?.throwIfAborted();
    const downloading = TestWorkflowEnvironment.createLocal({ server }).then((started) => started.teardown());
    // it takes no signal
    await Promise.race([downloading, ...(signal ? [once(signal, 'abort').then(() => signal.throwIfAborted())] : [])]);
    return programIn(folder);
  } catch (error) {
    signal?.throwIfAborted();
    say(`Temporal: it cannot be downloaded from here (${(error as Error).message.split('\n')[0]})`);
    return undefined;
  }
}

/** Complete downloads only: an interrupted one stays there under another name. */
function programIn(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names.find((f) => f.startsWith('temporal-') && !f.endsWith('.downloading'));
  return name && join(folder, name);
}

/** Within a module of its own, because `go install` takes the driver that the program names. */
async function build({ cacheDir, say, signal }: Search, target: string): Promise<string> {
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
