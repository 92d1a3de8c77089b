import { readFileSync } from 'node:fs';
import { nameAt } from './shipped.ts';

type Packages = Record<string, { hasInstallScript?: boolean }>;

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));

/** Packages with an install script that is neither allowed nor denied: npm warns of each at every installation. */
export const undecided = (packages: Packages, allowScripts: Record<string, boolean>): string[] =>
  Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => hasInstallScript && !(nameAt(path) in allowScripts))
    .map(([path]) => `${nameAt(path)} has an install script, and allowScripts neither allows nor denies it`);

export const checkInstallScripts = (): string[] =>
  undecided(read('package-lock.json').packages, read('package.json').allowScripts);
