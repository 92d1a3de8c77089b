import { readFileSync } from 'node:fs';

/** The package's version. package.json is beside this folder in a checkout, in dist/ and in the image. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
