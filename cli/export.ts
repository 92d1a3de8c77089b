import type { Config } from '../runtime/config.ts';
import { Misused } from './command.ts';
import { openElasticsearch } from './exporting/elasticsearch.ts';
import { openFile } from './exporting/file.ts';
import { openPostgres } from './exporting/postgres.ts';
import { type Retries, retrying } from './exporting/retries.ts';
import { runExport } from './exporting/run.ts';
import { Source } from './exporting/source.ts';
import type { Target } from './exporting/target.ts';

/** The targets, with the options that each of them takes. */
const TAKES = { file: ['file'], postgres: ['url', 'table'], elasticsearch: ['url', 'index'] };

type Texts = Partial<Record<'from' | 'key' | 'file' | 'url' | 'table' | 'index', string>>;
type Options = Texts & { to: keyof typeof TAKES; follow?: boolean };

/** Tries in a row without `--follow`: about 15 s. */
const TRIES = 8;
const HTTP = ['http:', 'https:'];

/**
 * `docket export`: the feed to a file, a table or an index. Ends the process.
 * @throws Misused for options that do not fit; Error that names the server, file or table that cannot be used
 */
export async function exportCommand(config: Config, options: Options): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  const { signal } = stop;
  const { to, from, follow = false } = options;
  const say = (line: string) => console.error(`docket export: ${line}`);
  const retries = retrying(follow ? Number.POSITIVE_INFINITY : TRIES, signal, say);
  const open = targetOf(options, signal, retries);
  const url = address('--from', from ?? `http://127.0.0.1:${config.port}`, HTTP);
  if (new URL(url).username !== '') throw new Misused('--from must not have a user or a password: a key goes to --key');
  const setting = from === undefined ? 'PORT' : '--from';
  const source = new Source({ url, setting, key: options.key ?? config.key, signal });
  console.log(`docket export: ${source.url} to ${to}${follow ? ', following' : ''}`);
  const { events, position } = await runExport({ source, open, follow, signal, retries });
  console.log(`docket export: ${events} events, up to position ${position}`);
  // connections that are kept alive would delay the end
  process.exit(0);
}

function targetOf(options: Options, signal: AbortSignal, retries: Retries): () => Promise<Target> {
  const takes = TAKES[options.to];
  const foreign = ['file', 'url', 'table', 'index'].find((o) => o in options && !takes.includes(o));
  if (foreign) throw new Misused(`--${foreign} is not for --to ${options.to}`);
  if (options.to === 'file') {
    const { file } = options;
    if (!file) throw new Misused('--to file needs --file');
    return () => openFile(file);
  }
  if (options.to === 'postgres') {
    const url = address('--url', options.url, ['postgres:', 'postgresql:']);
    const table = name('--table', options.table ?? 'docket_event', /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/);
    return () => openPostgres(url, table);
  }
  const url = address('--url', options.url, HTTP);
  const index = name('--index', options.index ?? 'docket-events', /^[a-z0-9][a-z0-9._-]*$/);
  return () => openElasticsearch({ url, index, signal, retries });
}

/** @throws Misused, which does not quote the value: it may hold a password */
function address(option: string, value: string | undefined, protocols: string[]): string {
  if (value === undefined) throw new Misused(`${option} is missing`);
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))
    throw new Misused(`${option} must be a URL that begins with ${protocols.join('// or ')}//`);
  return value;
}

function name(option: string, value: string, pattern: RegExp): string {
  if (!pattern.test(value)) throw new Misused(`${option} ${value} is no name that fits ${pattern.source}`);
  return value;
}
