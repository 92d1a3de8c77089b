import { parseArgs } from 'node:util';
import type { Config } from '../runtime/config.ts';
import { openElasticsearch } from './exporting/elasticsearch.ts';
import { openFile } from './exporting/file.ts';
import { openPostgres } from './exporting/postgres.ts';
import { Retries } from './exporting/retries.ts';
import { runExport } from './exporting/run.ts';
import { Source } from './exporting/source.ts';
import type { Target } from './exporting/target.ts';

const USAGE = `docket export --to file|postgres|elasticsearch [options]

Copies the feed of a running server, from the target's position to the end.
Stopped at any moment and started again, it misses no event and copies none twice.

  --from URL      the server            (default: http://127.0.0.1:PORT)
  --key KEY       a producer's API key  (default: DOCKET_KEY)
  --follow        keep it running at the end, until SIGTERM or Ctrl-C

to a file, as newline-delimited JSON:
  --file PATH     appended to
to PostgreSQL:
  --url URL       postgres://user@host/database
  --table NAME    (default: docket_event) created if it is missing, as is NAME_position
to Elasticsearch or OpenSearch:
  --url URL       https://user:password@host:9200
  --index NAME    (default: docket-events) created if it is missing, as is NAME-position

Exit codes: 0 done or stopped, 1 failed, 2 wrong options.`;

const OPTIONS = {
  to: { type: 'string' },
  from: { type: 'string' },
  key: { type: 'string' },
  follow: { type: 'boolean', default: false },
  file: { type: 'string' },
  url: { type: 'string' },
  table: { type: 'string' },
  index: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** What each target takes of the options above. */
const TAKES: Record<string, string[]> = {
  file: ['file'],
  postgres: ['url', 'table'],
  elasticsearch: ['url', 'index'],
};
/** Tries in a row without `--follow`: about 15 s. */
const TRIES = 8;
const HTTP = ['http:', 'https:'];

/** A command that cannot be understood: exit code 2. */
class Misused extends Error {}

/** `docket export`: the feed to a file, a table or an index. Ends the process. */
export async function exportCommand(config: Config, args: string[]): Promise<void> {
  try {
    const { values } = parse(args);
    if (values.help) console.log(USAGE);
    else await run(config, values);
    process.exit(0);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    console.error(`docket export: ${message || code}`);
    if (error instanceof Misused) console.error('docket export --help shows its options');
    process.exit(error instanceof Misused ? 2 : 1);
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS });
  } catch (error) {
    throw new Misused((error as Error).message);
  }
}

async function run(config: Config, values: Values): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  const { signal } = stop;
  const retries = new Retries(values.follow ? Number.POSITIVE_INFINITY : TRIES, signal, (line) =>
    console.error(`docket export: ${line}`),
  );
  const open = targetOf(values, signal, retries);
  const url = address('--from', values.from ?? `http://127.0.0.1:${config.port}`, HTTP);
  const source = new Source({ url, key: values.key ?? config.key, signal });
  console.log(`docket export: ${url} to ${values.to}${values.follow ? ', following' : ''}`);
  const { events, position } = await runExport({ source, open, follow: values.follow, signal, retries });
  console.log(`docket export: ${events} events, up to position ${position}`);
}

function targetOf(values: Values, signal: AbortSignal, retries: Retries): () => Promise<Target> {
  const takes = TAKES[values.to ?? ''];
  if (!takes) throw new Misused(`--to must be one of ${Object.keys(TAKES).join(', ')}`);
  const foreign = ['file', 'url', 'table', 'index'].find((o) => o in values && !takes.includes(o));
  if (foreign) throw new Misused(`--${foreign} is not for --to ${values.to}`);
  if (values.to === 'file') {
    const { file } = values;
    if (!file) throw new Misused('--to file needs --file');
    return () => openFile(file);
  }
  if (values.to === 'postgres') {
    const url = address('--url', values.url, ['postgres:', 'postgresql:']);
    const table = name('--table', values.table ?? 'docket_event', /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/);
    return () => openPostgres(url, table);
  }
  const url = address('--url', values.url, HTTP);
  const index = name('--index', values.index ?? 'docket-events', /^[a-z0-9][a-z0-9._-]*$/);
  return () => openElasticsearch({ url, index, signal, retries });
}

/** @throws Misused without the value, which may hold a password */
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
