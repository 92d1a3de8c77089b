import { readFileSync, writeFileSync } from 'node:fs';

// Packages with native code have one optional package per platform. Where a registry doesn't serve all
// of them, `npm install` leaves the others out of package-lock.json, and `npm ci` then refuses it, on
// every platform. Their names say which platform they are for, so they can be put back.

interface Locked {
  version?: string;
  optionalDependencies?: Record<string, string>;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

interface Lock {
  packages: Record<string, Locked>;
}

const FILE = new URL('../package-lock.json', import.meta.url);
const PLATFORM = /(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-([a-z0-9]+)(-.+)?$/;

/** The platform packages that a lock file names as dependencies and has no entry for. */
export function missingPlatforms(lock: Lock): Record<string, Locked> {
  const missing: Record<string, Locked> = {};
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
    for (const [name, version] of path === '' ? [] : Object.entries(optionalDependencies)) {
      const platform = platformOf(name);
      const places = [`node_modules/${name}`, `${path}/node_modules/${name}`];
      const known = places.some((at) => lock.packages[at]?.version === version);
      // beside another version of it at the root, it stands under the package that needs it
      const free = places.find((at) => !(at in lock.packages));
      if (platform && !known && free && /^\d/.test(version))
        missing[free] = { version, ...(dev && { dev }), ...platform, optional: true };
    }
  }
  return missing;
}

function platformOf(name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> | null {
  const [, os, cpu, abi = ''] = PLATFORM.exec(name) ?? [];
  if (!os || !cpu) return null;
  const libc = os !== 'linux' ? null : abi.includes('musl') ? 'musl' : abi.includes('gnu') ? 'glibc' : null;
  return { os: [os], cpu: [cpu], ...(libc && { libc: [libc] }) };
}

/** Platforms for which `npm ci` would refuse package-lock.json. */
export function checkLockfile(): string[] {
  const lock = JSON.parse(readFileSync(FILE, 'utf8')) as Lock;
  return Object.keys(missingPlatforms(lock)).map((path) => `package-lock.json has no ${path}`);
}

if (import.meta.filename === process.argv[1]) {
  const lock = JSON.parse(readFileSync(FILE, 'utf8')) as Lock;
  const missing = missingPlatforms(lock);
  const { '': root = {}, ...rest } = lock.packages;
  const sorted = Object.entries({ ...rest, ...missing }).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = { '': root, ...Object.fromEntries(sorted) };
  if (Object.keys(missing).length > 0) writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`package-lock.json: ${Object.keys(missing).length} platform packages added`);
}
