import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

test('each figure that the README gives is one of the last measurements', () => {
  const section = read('README.md').split('## How fast')[1]?.split('\n## ')[0] ?? '';
  const figures = section.match(/\d[\d,.]*(?= (?:×|ms|a second|pairs a second))/g) ?? [];
  const results = read('bench/RESULTS.md');
  expect(figures.length).toBeGreaterThan(5);
  // as it stands there, or with its last digits left out
  const isMeasured = (figure: string) => new RegExp(`[^\\d.,]${figure.replaceAll('.', '\\.')}`).test(results);
  expect(figures.filter((figure) => !isMeasured(figure))).toEqual([]);
});
