import type { Config } from '../runtime/config.ts';
import { Misused, serverOf, stopSignal } from './command.ts';
import { openElasticsearch } from './exporting/elasticsearch.ts';
import { openFile } from './exporting/file.ts';
import { openKafka } from './exporting/kafka.ts';
import { openMysql } from './exporting/mysql.ts';
import { openPostgres } from './exporting/postgres.ts';
import { runExport } from './exporting/run.ts';
import { Source } from './exporting/source.ts';
import { type Retries, retrying, type Target } from './exporting/target.ts';

/** The targets, with the options that each of them takes. */
const TAKES = {
  ...{ file: ['file'], postgres: ['url', 'table'], mysql: ['url', 'table'] },
  ...{ elasticsearch: ['url', 'index'], kafka: ['url', 'topic'] },
};
const OWN = ['file', 'url', 'table', 'index', 'topic'] as const;

type Texts = Partial<Record<'from' | 'key' | (typeof OWN)[number], string>>;
type Options = Texts & { to: keyof typeof TAKES; follow?: boolean };

/** Tries in a row without `--follow`: about 15 s. */
const TRIES = 8;
const HTTP = ['http:', 'https:'];

/**
 * `docket export`: the feed to a file, a table, an index or a topic. Ends the process.
 * @param given its `to` is the name of a target, or a URL that stands for `--url`, too
 * @throws Misused for options that do not fit; Error that names the server, file or table that cannot be used
 */
export async function exportCommand(config: Config, given: Options & { to: string }): Promise<void> {
  const options = withUrl(given);
  const signal = stopSignal();
  const { to, from, follow = false } = options;
  const say = (line: string) => console.error(`docket export: ${line}`);
  const retries = retrying(follow ? Number.POSITIVE_INFINITY : TRIES, signal, say);
  const open = targetOf(options, signal, retries);
  const server = serverOf(config);
  const url = address('--from', from ?? server.url, HTTP);
  if (new URL(url).username !== '') throw new Misused('--from must not have a user or a password: a key goes to --key');
  const setting = from === undefined ? server.setting : '--from';
  const source = new Source({ url, setting, key: options.key ?? config.key, signal });
  console.log(`docket export: ${source.url} to ${to}${follow ? ', following' : ''}`);
  const { events, position } = await runExport({ source, open, follow, signal, retries });
  console.log(`docket export: ${events} events, up to position ${position}`);
  // connections that are kept alive would delay the end
  process.exit(0);
}

function withUrl(options: Options): Options {
  const [to, rest] = options.to.split('://');
  if (rest === undefined) return options;
  if (options.url !== undefined) throw new Misused('--to has a URL: leave out --url');
  return { ...options, to: to as Options['to'], url: options.to };
}

function targetOf(options: Options, signal: AbortSignal, retries: Retries): () => Promise<Target> {
  const { to } = options;
  const foreign = OWN.find((option) => option in options && !TAKES[to].includes(option));
  if (foreign) throw new Misused(`--${foreign} is not for --to ${to}`);
  if (to === 'file') {
    const { file } = options;
    if (!file) throw new Misused('--to file needs --file');
    return () => openFile(file);
  }
  if (to === 'elasticsearch') {
    const url = address('--url', options.url, HTTP);
    const index = name('--index', options.index ?? 'docket-events', /^[a-z0-9][a-z0-9._-]*$/);
    return () => openElasticsearch(url, index, signal, retries);
  }
  if (to === 'kafka') {
    const url = address('--url', options.url, ['kafka:']);
    const topic = name('--topic', options.topic ?? 'docket-events', /^[A-Za-z0-9][A-Za-z0-9._-]{0,239}$/);
    return () => openKafka(url, topic);
  }
  const url = address('--url', options.url, to === 'mysql' ? ['mysql:'] : ['postgres:', 'postgresql:']);
  const table = name('--table', options.table ?? 'docket_event', /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/);
  return () => (to === 'mysql' ? openMysql : openPostgres)(url, table);
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
