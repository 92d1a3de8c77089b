import { readFileSync } from 'node:fs';

/** The lines of a file of `test/data` below its header, in their cells. */
export const csvRows = (name: string): string[][] => {
  const [, ...lines] = readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => line.split(','));
};
