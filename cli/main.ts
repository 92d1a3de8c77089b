import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../runtime/config.ts';
import { exportCommand } from './export.ts';
import { keyCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { reconcileCommand } from './reconcile.ts';
import { run } from './run.ts';

const USAGE = `docket start                 everything on this machine: PostgreSQL, Temporal, worker, API
docket api                   the API only    (DATABASE_URL, TEMPORAL_ADDRESS)
docket worker                the worker only (DATABASE_URL, TEMPORAL_ADDRESS)
docket migrate               bring the schema of DATABASE_URL up to date, and register what Temporal needs
docket reconcile             after a restore: put back what Temporal has lost (DATABASE_URL)
docket key create --role producer|reviewer|agent|consumer|admin [--subject NAME] [--name NAME]
docket key list
docket key revoke ID
docket export --to ...       the feed of a running server to a file, PostgreSQL or Elasticsearch (--help)`;

const commands: Record<string, (config: Config, args: string[]) => Promise<void>> = {
  start: (config) => run('start', config),
  api: (config) => run('api', config),
  worker: (config) => run('worker', config),
  migrate: migrateCommand,
  reconcile: reconcileCommand,
  key: keyCommand,
  export: exportCommand,
};

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
const command = commands[String(positionals[0])];
if (!command) {
  console.log(USAGE);
  process.exit(positionals[0] === undefined || positionals[0] === 'help' ? 0 : 2);
}
try {
  await command(readConfig(process.env), process.argv.slice(3));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
