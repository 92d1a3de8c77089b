import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What package-lock.json has of one package. */
interface Locked {
  name?: string;
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

type Packages = Record<string, Locked>;

/** A package that runs on a server, or of which the console is made. */
export interface Shipped {
  /** Where it is, as package-lock.json says it. */
  path: string;
  name: string;
  version: string;
  /** As an SPDX expression; null: it doesn't say. */
  license: string | null;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = 'node_modules/';

/** All packages of an installation without development dependencies, and those that Vite puts into the console. */
export function shippedPackages(): Shipped[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Packages };
  const paths = new Set(Object.keys(packages).filter((path) => path.includes(MODULES) && !packages[path]?.dev));
  for (const name of consoleImports()) addWithAll(packages, paths, pathFrom(packages, '', name));
  return [...paths]
    .filter((path) => packages[path]?.link !== true)
    .sort()
    .map((path) => {
      const { version = '' } = packages[path] as Locked;
      return { path, name: nameAt(path), version, license: licenseOf(packages, path) };
    });
}

export const nameAt = (path: string) => path.slice(path.lastIndexOf(MODULES) + MODULES.length);

/** Packages whose code the console's sources import; not Vite, which only builds it. */
function consoleImports(): string[] {
  const sources = readdirSync(join(ROOT, 'web'), { recursive: true, encoding: 'utf8' });
  const names = sources
    .filter((file) => /\.tsx?$/.test(file) && file !== 'vite.config.ts')
    .flatMap((file) => [...readFileSync(join(ROOT, 'web', file), 'utf8').matchAll(IMPORT)])
    .map(([, name = '']) => name);
  return [...new Set(names)];
}

/** The name of a package: of `@scope/name/part` the first two parts. */
const IMPORT = /^(?:import|export) (?!type )(?:[^'"]*? from )?['"]((?:@[\w.-]+\/)?[a-z][\w.-]*)[^'"]*['"]/gm;

function addWithAll(packages: Packages, paths: Set<string>, path: string): void {
  if (paths.has(path)) return;
  paths.add(path);
  for (const name of Object.keys(packages[path]?.dependencies ?? {}))
    addWithAll(packages, paths, pathFrom(packages, path, name));
}

/** Where Node.js finds a package from another one. @throws Error for one that is not in package-lock.json */
function pathFrom(packages: Packages, from: string, name: string): string {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf(`/${MODULES}`)))) {
    const path = at === '' ? `${MODULES}${name}` : `${at}/${MODULES}${name}`;
    if (path in packages) return path;
    if (at === '') throw new Error(`package-lock.json has no ${name}, which ${from || 'web/'} imports`);
  }
}

/** As the lock file says it, or the package itself, or the package whose platform-specific part it is. */
function licenseOf(packages: Packages, path: string): string | null {
  const own = packages[path]?.license ?? installedLicense(path);
  if (own) return own;
  const name = nameAt(path);
  const owner = Object.entries(packages).find(([, { optionalDependencies = {} }]) => name in optionalDependencies);
  return owner?.[1].license ?? null;
}

function installedLicense(path: string): string | undefined {
  const file = join(ROOT, path, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Locked).license : undefined;
}
