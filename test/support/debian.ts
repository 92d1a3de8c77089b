import { execFileSync } from 'node:child_process';

const php = (library: string) => `test -e /usr/share/php/${library}/autoload.php`;
const browsers = 'chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable';

/** Debian packages that tests use, each with a command of a shell that succeeds where its program is there. */
const PACKAGES = {
  beanstalkd: 'test -x /usr/bin/beanstalkd',
  cargo: 'command -v cargo',
  'chromium-headless-shell': `for name in $CHROMIUM ${browsers}; do command -v $name && exit; done; exit 1`,
  composer: 'command -v composer',
  curl: 'command -v curl',
  'default-jdk-headless': 'command -v javac',
  'golang-go': 'command -v go',
  'libssl-dev': 'test -e /usr/include/openssl/ssl.h',
  'mariadb-client-core': 'command -v my_print_defaults',
  'mariadb-server-core': 'test -x /usr/sbin/mariadbd',
  maven: 'command -v mvn',
  'nginx-light': 'test -x /usr/sbin/nginx',
  openssl: 'command -v openssl',
  'php-cli': 'command -v php',
  'php-curl': 'php -m | grep -qx curl',
  'php-guzzlehttp-guzzle': php('GuzzleHttp'),
  'php-illuminate-bus': php('Illuminate/Bus'),
  'php-illuminate-database': php('Illuminate/Database'),
  'php-illuminate-events': php('Illuminate/Events'),
  'php-illuminate-queue': php('Illuminate/Queue'),
  'php-pda-pheanstalk': php('Pheanstalk'),
  'php-pgsql': 'php -m | grep -qx pdo_pgsql',
  'php-sqlite3': 'php -m | grep -qx pdo_sqlite',
  pgbouncer: 'test -x /usr/sbin/pgbouncer',
  'pkg-config': 'command -v pkg-config',
  'postgresql-client': 'command -v psql',
  procps: 'command -v ps',
  prometheus: 'command -v promtool',
  'python3-venv': 'python3 -c "import venv, ensurepip"',
  'redis-server': 'command -v redis-server',
  'redis-tools': 'command -v redis-cli',
  systemd: 'command -v systemd-analyze',
  zsh: 'command -v zsh',
};
type Package = keyof typeof PACKAGES;

/** All of them. */
export const ALL = Object.keys(PACKAGES) as Package[];

/**
 * Makes sure that the programs of Debian packages are there. As root it installs what is missing, and says so.
 * @throws Error that names all that is missing
 */
export function needDebian(...names: Package[]): void {
  const missing = names.filter((name) => !succeeds(PACKAGES[name]));
  if (missing.length === 0) return;
  const all = missing.join(' ');
  if (process.getuid?.() !== 0) throw new Error(`programs are missing: as root, apt-get install ${all}`);
  process.stdout.write(`installing ${all} from Debian\n`);
  // test files run side by side, and apt allows one of them at a time
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    execFileSync('flock', ['/tmp/docket-apt.lock', 'apt-get', ...args], { stdio: 'pipe', env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...missing);
}

function succeeds(command: string): boolean {
  try {
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
