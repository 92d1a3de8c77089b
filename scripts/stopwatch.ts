import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { debianRepositories } from '../test/clients/composer.ts';

// How long a newcomer waits: from a clone of what is committed to the first ticket decided with each client, each installed
// into an empty project as its README says.

const { write } = new Command('npm run stopwatch --')
  .option('--write', 'writes docs/stopwatch.md')
  .parse()
  .opts<{ write?: boolean }>();

const root = fileURLToPath(new URL('..', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'docket-stopwatch-'));
const checkout = join(dir, 'docket');
// what npm tells its children about its own project
const { npm_config_local_prefix: _, ...ENV } = process.env;
const rows: string[] = [];
let composerNote = '';

/** Runs a line of a shell and notes how long it took. @returns what it printed */
async function timed(what: string, line: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const start = performance.now();
  const { stdout } = await promisify(execFile)('bash', ['-c', line], {
    ...{ cwd, env: { ...ENV, ...env }, maxBuffer: 2 ** 26 },
  });
  note(what, line, start);
  return stdout;
}

function note(what: string, line: string, start: number): void {
  const row = `| ${what} | \`${line}\` | ${((performance.now() - start) / 1000).toFixed(1)} |`;
  rows.push(row);
  console.log(row);
}

/** `npm start` on free ports. @returns where the API is, and what ends it */
async function start() {
  const ports = { PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const began = performance.now();
  const docket = spawn('npm', ['start'], {
    ...{ cwd: checkout, env: { ...ENV, ...ports } },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => docket.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    docket.stdout.on('data', (part) => {
      text += part;
      const found = /API +(http:\/\/\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error(`npm start ended: ${text}`)));
  });
  note('start', 'npm start', began);
  const stop = () => {
    docket.kill('SIGTERM');
    return ended;
  };
  return { url, stop };
}

interface Client {
  name: string;
  /** Its first program, and how that is run. */
  file: string;
  run: string;
  /** From a checkout. */
  install?: string;
  /** Environment of the installation. */
  settings?: () => Promise<NodeJS.ProcessEnv>;
}

const CLIENTS: Client[] = [
  { name: 'curl', file: 'first.sh', run: 'bash first.sh' },
  {
    ...{ name: 'TypeScript', file: 'first.mjs', run: 'node first.mjs' },
    install:
      '(cd ../docket && npm pack --silent --workspace clients/typescript --pack-destination "$OLDPWD") && npm install --silent ./docket-client-*.tgz',
  },
  {
    ...{ name: 'Python', file: 'first.py', run: 'venv/bin/python first.py' },
    install: `python3 -m venv venv && venv/bin/pip install --quiet ../docket/clients/python`,
  },
  {
    ...{ name: 'PHP', file: 'first.php', run: 'php first.php', settings: composerSettings },
    install: `composer init --no-interaction --name a/b && composer config repositories.docket path ../docket/clients/php && composer require --no-interaction --quiet docket/client guzzlehttp/guzzle`,
  },
];

/**
 * What Composer reads besides a project's own file: nothing where its registry answers, else a folder whose settings offer
 * the libraries of Debian's packages, so that the same line installs the same from there.
 */
async function composerSettings(): Promise<NodeJS.ProcessEnv> {
  const env = { COMPOSER_ALLOW_SUPERUSER: '1' };
  try {
    await promisify(execFile)('composer', ['show', '--all', 'psr/http-client'], {
      ...{ cwd: dir, env: { ...ENV, ...env }, timeout: 60_000 },
    });
    return env;
  } catch {
    const home = join(dir, 'composer');
    mkdirSync(home);
    writeFileSync(join(home, 'config.json'), JSON.stringify({ repositories: debianRepositories() }));
    composerNote = " Composer's registry could not be reached: the libraries of PHP came from Debian's packages.";
    return { ...env, COMPOSER_HOME: home };
  }
}

async function decideWith(url: string, { name, file, install, run, settings }: Client): Promise<void> {
  const project = join(dir, name);
  mkdirSync(project);
  cpSync(join(checkout, 'scripts/stopwatch', file), join(project, file));
  if (install) await timed(`${name}: install`, install, project, await settings?.());
  const printed = await timed(`${name}: first decided ticket`, run, project, { DOCKET_SERVERS: url });
  if (!printed.includes('decided')) throw new Error(`${name} decided nothing: ${printed}`);
}

try {
  await timed('get it', `git clone --quiet "$FROM" docket`, dir, { FROM: root });
  await timed('install', 'npm ci', checkout);
  const docket = await start();
  try {
    for (const client of CLIENTS) await decideWith(docket.url, client);
  } finally {
    await docket.stop();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
if (write) {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;
  const head = [
    '# Stopwatch',
    '',
    'How long a newcomer waits, from a clone to the first ticket decided with each client, in seconds. `npm run stopwatch -- --write` measured',
    `it: ${machine}. What npm, pip and the \`temporal\` program once brought was in their caches.${composerNote}`,
    '',
  ];
  writeFileSync(
    join(root, 'docs/stopwatch.md'),
    `${[...head, '| step | command | seconds |', '|---|---|---|', ...rows].join('\n')}\n`,
  );
}
