import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { runToEnd } from './children.ts';
import { freePort } from './ports.ts';

const VERSION = '1.5.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;

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
    if (!existsSync(given)) throw new Error(`TEMPORAL_CLI: there is no ${given}`);
    return given;
  }
  const exe = process.platform === 'win32' ? '.exe' : '';
  const onPath = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, `temporal${exe}`));
  const found = onPath.find((path) => existsSync(path));
  if (found) return found;
  const cached = join(cacheDir, `temporal-${VERSION}${exe}`);
  if (existsSync(cached)) return cached;
  mkdirSync(cacheDir, { recursive: true });
  return (await download(cacheDir, say, signal)) ?? (await build({ cacheDir, target: cached, exe, say, signal }));
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

function programIn(folder: string): string | undefined {
  const name = existsSync(folder) ? readdirSync(folder).find((f) => f.startsWith('temporal-')) : undefined;
  return name && join(folder, name);
}

interface Build extends Pick<CliSearch, 'cacheDir' | 'say' | 'signal'> {
  target: string;
  exe: string;
}

async function build({ cacheDir, target, exe, say, signal }: Build): Promise<string> {
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
  const bin = join(cacheDir, 'go-bin');
  try {
    const env = { ...process.env, GOBIN: bin, GOFLAGS: '-modcacherw -ldflags=-s' };
    await runToEnd({ command: 'go', args: ['install', MODULE], env, signal: 'SIGINT', graceMs: 5_000 }, signal);
  } finally {
    clearInterval(clock);
  }
  renameSync(join(bin, `temporal${exe}`), target);
  say(`Temporal: built in ${Math.round((Date.now() - started) / 1000)} s, kept in ${target}`);
  return target;
}
