import { Command, Option } from 'commander';
import { ROLES } from '../contract/kinds.ts';
import type { Setting } from '../runtime/config.ts';
import { VERSION } from '../runtime/version.ts';
import { add, guide, type Run } from './command.ts';

const STORES: Setting[] = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
const OWN_SERVERS: Setting[] = ['DOCKET_DATA', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'TEMPORAL_CLI'];
const API: Setting[] = [
  ...(['PORT', 'HOST', 'DOCKET_AUTH', 'DOCKET_PUBLIC_URL', 'BEANSTALKD_PORT', 'BEANSTALKD_HOST'] as const),
  ...(['BEANSTALKD_OPEN', 'DELAY_QUEUE_PORT', 'DELAY_QUEUE_HOST', 'DELAY_QUEUE_OPEN'] as const),
  ...(['TEMPORAL_UI_URL', 'DOCKET_AUDIT_SKEW_SECONDS'] as const),
  ...(['DOCKET_OIDC_ISSUER', 'DOCKET_OIDC_CLIENT_ID', 'DOCKET_OIDC_CLIENT_SECRET'] as const),
  ...(['DOCKET_MAX_ROTATIONS', 'DOCKET_IMAGE_HOSTS'] as const),
];
const WORKER: Setting[] = ['DOCKET_RETENTION_DAYS', 'DOCKET_ARCHIVE', 'DOCKET_NEXUS_QUEUES'];
const BOTH: Setting[] = [
  ...([
    'DOCKET_ALLOW_PRIVATE_CALLBACKS',
    'DOCKET_SIGNAL_NAMESPACES',
    'DOCKET_PACEMAKER',
    'METRICS_PORT',
    'METRICS_HOST',
    'DOCKET_CACHE',
  ] as const),
  ...(['DOCKET_FULL_TEXT', 'DOCKET_POOL', 'DOCKET_SECRETS_KEY', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'LOG_LEVEL'] as const),
];
const SERVERS = 'DATABASE_URL=postgres://docket:secret@db/docket TEMPORAL_ADDRESS=temporal:7233';
/** They name a database of the user's, or that of a `docket start` on this machine. */
const DATABASE: Setting[] = ['DATABASE_URL', 'DOCKET_DATA'];

/** All of `docket`. A command's code is loaded when it runs, so help and mistakes load neither Temporal nor pg. */
export function createProgram(): Command {
  const program = new Command('docket')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help and do nothing else')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride();
  guide(program, {
    summary: '',
    description: `Hands items of work to people and programs, on PostgreSQL and Temporal.

docket COMMAND --help has the options, environment variables and examples of a command.`,
    examples: [
      ['docket start', 'everything on this machine; the console is at http://127.0.0.1:3000'],
      ['npx docket start', 'the same in a checkout, as npm start'],
    ],
  });
  program.addHelpText('after', '\nExit codes: 0 done or stopped, 1 failed, 2 the command line cannot be understood.');
  addProcesses(program);
  addStores(program);
  addMoving(program);
  addDoctor(program);
  addKeys(program);
  addExport(program);
  addOutbox(program);
  return program;
}

function addProcesses(program: Command): void {
  const run = (what: 'start' | 'api' | 'worker') => async (): Promise<Run> => {
    const { run } = await import('./run.ts');
    return (config) => run(what, config);
  };
  add(program, 'start', run('start'), {
    summary: 'run everything on this machine: PostgreSQL, Temporal, worker and API',
    description: `Runs all of Docket until SIGTERM or Ctrl-C: PostgreSQL and Temporal, unless
DATABASE_URL and TEMPORAL_ADDRESS name servers of yours, the migrations, the worker
and the API with the console. The data is in the folder DOCKET_DATA.`,
    reads: [...STORES, ...OWN_SERVERS, ...API, ...WORKER, ...BOTH],
    examples: [
      ['docket start', 'with all defaults'],
      ['PORT=3001 TEMPORAL_PORT=0 TEMPORAL_UI_PORT=0 DOCKET_DATA=.docket-2 docket start', 'a second one beside it'],
      [`${SERVERS} docket start`, 'worker and API on servers of yours'],
    ],
  });
  add(program, 'api', run('api'), {
    summary: 'run an API process, on servers of yours',
    description: `Runs the API with the console until SIGTERM or Ctrl-C. It keeps no state: run as
many as you want. The schema must be up to date (docket migrate). While Temporal
is away it hands out work all the same.`,
    reads: [...STORES, ...API, ...BOTH],
    examples: [[`${SERVERS} docket api`, 'an API on port 3000']],
  });
  add(program, 'worker', run('worker'), {
    summary: 'run a worker process, on servers of yours',
    description: `Runs a worker until SIGTERM or Ctrl-C: it publishes what has happened to the
workflows, runs these, and delivers outcomes. It keeps no state: run as many as
you want. The schema must be up to date (docket migrate).`,
    reads: [...STORES, ...WORKER, ...BOTH],
    examples: [[`${SERVERS} docket worker`, 'a worker']],
  });
}

function addStores(program: Command): void {
  add(program, 'migrate', async () => (await import('./migrate.ts')).migrateCommand, {
    summary: 'bring the schema of DATABASE_URL up to date, and register what Temporal needs',
    description: `Applies the migrations that are new, each in a transaction, and with
TEMPORAL_ADDRESS registers the search attribute docketQueue. It may be repeated.
It changes nothing where a later version of Docket has migrated the database.`,
    reads: STORES,
    examples: [
      ['DATABASE_URL=postgres://docket:secret@db/docket docket migrate', 'the database only'],
      ['DATABASE_URL=… TEMPORAL_ADDRESS=temporal:7233 docket migrate', 'both'],
    ],
  });
  add(program, 'reconcile', async () => (await import('./reconcile.ts')).reconcileCommand, {
    summary: 'put back what Temporal has lost, after a restore',
    description: `Marks all items, schedules and deliveries that need something in Temporal;
running processes publish them again. It may be repeated and interrupted.
Needed only after a restore that Docket cannot notice, see docs/operations.md.`,
    reads: DATABASE,
    examples: [
      ['docket reconcile', 'of the docket start that has its data in .docket'],
      ['DATABASE_URL=postgres://docket:secret@db/docket docket reconcile', 'of servers of yours'],
    ],
  });
  add(program, 'reseal', async () => (await import('./reconcile.ts')).resealCommand, {
    summary: 'seal all secrets of callbacks with a new key',
    description: `Seals every stored secret of a callback with the first key of DOCKET_SECRETS_KEY, also those
that are not sealed yet. Processes that run need the new key first. It may be repeated and
interrupted; afterwards the old key is not needed any more.`,
    reads: [...DATABASE, 'DOCKET_SECRETS_KEY'],
    examples: [['DOCKET_SECRETS_KEY=new,old docket reseal', 'of the docket start that has its data in .docket']],
  });
}

function addMoving(program: Command): void {
  add(program, 'dump', async () => (await import('./moving.ts')).dumpCommand, {
    summary: 'write all of the database to a file, as of one instant',
    description: `Writes everything that Docket keeps in PostgreSQL to a file that docket load takes, while
everything goes on: a backup, or the way to other servers. The file holds what the database
holds, secrets of callbacks and hashes of keys too. The schema must be up to date.`,
    reads: DATABASE,
    examples: [
      ['docket dump docket.dump', 'of the docket start that has its data in .docket'],
      ['DATABASE_URL=postgres://docket:secret@db/docket docket dump | gzip > docket.dump.gz', 'of servers of yours'],
    ],
  }).argument('[file]', 'made for its owner only; it must not be there (default: standard output)');
  add(program, 'load', async () => (await import('./moving.ts')).loadCommand, {
    summary: 'fill an empty database from such a file',
    description: `Migrates an empty database, loads a file of docket dump in one transaction, and marks what
Temporal should have to be put back, by the processes that run on it or will. It changes
nothing where the database has anything in it, or where the file is cut or altered.`,
    reads: DATABASE,
    examples: [
      ['docket load docket.dump', 'into the docket start that has its data in .docket'],
      [
        'gunzip -c docket.dump.gz | DATABASE_URL=postgres://docket:secret@db/docket docket load',
        'into servers of yours',
      ],
    ],
  }).argument('[file]', 'of docket dump (default: standard input)');
}

function addDoctor(program: Command): void {
  add(program, 'doctor', async () => (await import('./doctor.ts')).doctorCommand, {
    summary: 'look at a live system: what is broken, what waits, and what to do about it',
    description: `Compares rows, counts, events and workflows with each other, and looks at schema,
settings, clocks, bloat, dead letters and what waits longer than it should. It is the
last step of each restore and upgrade, and may be run at any time.

Exit codes: 0 nothing is broken, 1 something is; warnings do not count.`,
    reads: [...STORES, 'DOCKET_DATA', 'DOCKET_SECRETS_KEY'],
    examples: [
      ['docket doctor', 'of the docket start that has its data in .docket'],
      [`${SERVERS} docket doctor --repair`, 'of servers of yours, and put right what can be'],
      ['docket doctor --json', 'for programs'],
    ],
  })
    .option('--repair', 'correct counts, and put back workflows, schedules and deliveries that Temporal should have')
    .option('--json', 'print an array of {check, severity, count, examples, advice}')
    .option('--deep', 'read all of the log instead of its newest 100,000 lines: minutes for millions');
}

function addKeys(program: Command): void {
  const key = guide(program.command('key'), {
    summary: 'create, list and revoke API keys',
    description: 'API keys of DATABASE_URL, or of the docket start on this machine.',
    examples: [['docket key create --role admin', 'a key that may do everything']],
  });
  const role = new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory();
  add(key, 'create', async () => (await import('./keys.ts')).createKey, {
    summary: 'create a key and print it, this once',
    description: 'Creates an API key and prints it. Only its hash is kept, so it cannot be shown again.',
    reads: DATABASE,
    examples: [
      ['docket key create --role admin', 'may do everything'],
      ['docket key create --role reviewer --subject anna', 'for a reviewer, who acts as anna'],
      [
        "docket key create --role agent --queues 'reports,urgent-*' --expires 2027-01-31T00:00:00Z",
        'bound, for a time',
      ],
    ],
  })
    .addOption(role)
    .option('--subject <name>', 'who a reviewer key speaks for')
    .option('--name <name>', 'how events name it (default: its subject, else its role)')
    .option('--queues <names>', 'where it may act: names, or prefixes with *, by commas (default: everywhere)')
    .option('--expires <time>', 'when it ends, as 2027-01-31T00:00:00Z (default: never)')
    .option('--calls-per-second <n>', 'how often it may call each process (default: as often as it likes)');
  add(key, 'list', async () => (await import('./keys.ts')).listKeys, {
    summary: 'list all keys, oldest first',
    description: 'Prints a line for each key: its id, role, subject, name and times.',
    reads: DATABASE,
    examples: [['docket key list', 'all of them, revoked ones too']],
  });
  add(key, 'revoke', async () => (await import('./keys.ts')).revokeKey, {
    summary: 'end a key, within a second everywhere',
    description: 'Ends a key, within a second on all processes.',
    reads: DATABASE,
    examples: [['docket key revoke 1f0c2a9b7d34', 'ends the key of this id']],
  }).argument('<id>', 'its id, as docket key list shows it');
  add(program, 'erase', async () => (await import('./erase.ts')).eraseCommand, {
    summary: 'erase what is kept of an item, or the name of a person, for good',
    description: `Ends an open item, then erases its content, decision, result, notes and history. Ids, states,
counts and times stay. Of a person ends what they hold, removes their keys and places in lists,
and replaces the name wherever it stands. Says what is kept elsewhere. Safe to repeat and to
interrupt: processes that run carry on with it. See docs/guides/erasure.md.`,
    reads: DATABASE,
    examples: [
      ["docket erase --item ticket/report-17 --reason 'asked for by its author'", 'a ticket'],
      ["docket erase --person bob --reason 'has left'", 'a person'],
    ],
  })
    .option('--person <name>', 'a reviewer, juror, user, party or subject of keys')
    .option('--item <kind/id>', 'ticket/ID, job/ID, case/ID, task/ID or review/ID')
    .requiredOption('--reason <text>', 'why: kept in the history of what is erased');
}

function addExport(program: Command): void {
  const to = new Option('--to <target>', 'where to, or its URL');
  const { parseArg: check } = to.choices(['file', 'postgres', 'mysql', 'elasticsearch', 'kafka']);
  to.argParser((target) => check?.(target.split('://', 1)[0] ?? '', undefined) && target);
  add(program, 'export', async () => (await import('./export.ts')).exportCommand, {
    summary: 'copy the feed of a running server to a file, PostgreSQL, MySQL, Elasticsearch or Kafka',
    description: `Copies the feed of a running server, from the target's position to the end.
Stopped at any moment and started again, it misses no event and copies none twice.`,
    reads: ['DOCKET_URL', 'PORT', 'DOCKET_KEY'],
    examples: [
      ['docket export --to file --file events.ndjson', 'to a file, once'],
      ['docket export --to postgres --url postgres://me@warehouse/events --follow', 'to a table, until it is stopped'],
      ['docket export --to mysql://me@warehouse/events --follow', 'to a table of MySQL or MariaDB'],
      ['docket export --to elasticsearch --url https://me:secret@search:9200 --follow', 'to an index'],
      ['docket export --to kafka://one,two:9092 --follow', 'to a topic'],
    ],
  })
    .addOption(to.makeOptionMandatory())
    .option('--from <url>', 'the server (default: DOCKET_URL, else http://127.0.0.1:PORT)')
    .option('--key <key>', "a producer's API key (default: DOCKET_KEY)")
    .option('--follow', 'keep it running at the end, until SIGTERM or Ctrl-C')
    .optionsGroup('To a file, as newline-delimited JSON:')
    .option('--file <path>', 'appended to')
    .optionsGroup('To all others:')
    .option(
      '--url <url>',
      'postgres://user@host/database, mysql://…, https://user:password@host:9200, kafka://host:9092',
    )
    .optionsGroup('To PostgreSQL, MySQL or MariaDB:')
    .option('--table <name>', 'made if it is missing, as is NAME_position (default: docket_event)')
    .optionsGroup('To Elasticsearch or OpenSearch:')
    .option('--index <name>', 'made if it is missing, as is NAME-position (default: docket-events)')
    .optionsGroup('To Kafka (on Node.js 22.22 or newer):')
    .option('--topic <name>', 'made if it is missing, as is NAME-position (default: docket-events)');
}

function addOutbox(program: Command): void {
  const outbox = guide(program.command('outbox'), {
    summary: 'add tickets, jobs and cases in SQL transactions of your own',
    description:
      'Installs an outbox in a PostgreSQL of yours (13 or newer), and moves what was committed there to a server.',
    examples: [['docket outbox install postgres://me@127.0.0.1/app', 'the functions of the schema docket_outbox']],
  });
  add(outbox, 'install', async () => (await import('./outbox.ts')).installOutbox, {
    summary: 'make the schema docket_outbox, or bring it up to date',
    description: `Makes the schema docket_outbox with the functions add_ticket, add_job and add_case, or brings it up to date.
It may be repeated, also while followers run.`,
    examples: [['docket outbox install postgres://me@127.0.0.1/app', 'as the user who will also follow']],
  }).argument('<url>', 'postgres://user:password@host:5432/database');
  add(outbox, 'follow', async () => (await import('./outbox.ts')).followOutbox, {
    summary: 'make items of committed rows, until it is stopped',
    description: `Makes a ticket, job or case of each committed row until SIGTERM or Ctrl-C, once, whatever is killed.
Several may run at once. Rows that the server refuses are in docket_outbox.refused.`,
    reads: ['DOCKET_URL', 'PORT', 'DOCKET_KEY'],
    examples: [
      ['DOCKET_URL=https://docket.example DOCKET_KEY=… docket outbox follow postgres://me@127.0.0.1/app', 'all'],
    ],
  }).argument('<url>', 'of the database with the outbox');
}
