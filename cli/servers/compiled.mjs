import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Whether dist/ was compiled from the sources as they are now. JavaScript, because it runs before any loader is there.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The folders that are compiled into dist/. */
const FOLDERS = [
  ...['activities', 'api', 'cli', 'contract', 'db', 'domain', 'runtime', 'services', 'web', 'worker', 'workflows'],
];
const STAMP = `${ROOT}dist/sources`;

/** The files of these folders, and those that say how they are compiled and with which packages. */
export function sourceFiles() {
  const within = FOLDERS.filter((folder) => existsSync(ROOT + folder)).flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(ROOT.length)),
  );
  return [...within.sort(), 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
}

/** A hash of names and contents, not of times: a checkout sets those. */
export function sourceHash() {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) for (const part of [file, '\0', readFileSync(ROOT + file), '\0']) hash.update(part);
  return hash.digest('hex');
}

/** @returns whether dist/ was compiled from these very sources */
export const isCompiled = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourceHash();
