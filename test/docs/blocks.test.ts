import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { documents } from './documents.ts';
import { partsOf } from './not-run.ts';
import { startFor } from './places.ts';
import { faultsIn } from './run.ts';

const all = documents();
const wordsOf = (environment: Record<string, string>) =>
  Object.entries(environment).map(([name, value]) => `${name}=${value}`);
const ways = [...new Set(all.map(({ environment }) => wordsOf(environment).join(' ')))];

test('there are documents with shell blocks', () => {
  expect(all.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/guides/tickets.md']));
});

test('the Chinese README has the blocks of the English one', () => {
  const blocksOf = (path: string) =>
    all.find((document) => document.path === path)?.blocks.map(({ at: _, ...rest }) => rest);
  expect(blocksOf('README.zh-CN.md')).toEqual(blocksOf('README.md'));
});

test('each shell block says what it prints, or why it is not run', () => {
  const unsaid = all.flatMap(({ blocks }) => blocks).filter(({ mode, expected }) => mode === 'unsaid' || !expected[0]);
  expect(unsaid.map(({ at }) => `${at} needs a comment after it: CONTRIBUTING.md says how`)).toEqual([]);
});

test('commands that cannot run are not run, and no others', () => {
  const wrong = all.flatMap(({ blocks }) =>
    blocks.flatMap(({ at, mode, text }) => {
      const { able, unable } = partsOf(text);
      const lines = mode === 'not run' ? able : unable;
      return lines.map((line) => `${at} ${mode === 'not run' ? 'can' : 'cannot'} be run: ${line}`);
    }),
  );
  expect(wrong).toEqual([]);
});

needDebian('zsh', 'curl', 'postgresql-client', 'beanstalkd', 'redis-server', 'redis-tools');

for (const way of ways) {
  const chosen = all.filter(({ environment }) => wordsOf(environment).join(' ') === way);
  const docs = await startFor(chosen[0]?.environment ?? {});
  describe(`on ${[way, 'npm start'].join(' ').trim()}`, () => {
    // one after the other on one system: what the second shell pastes has been there before
    for (const document of chosen)
      test.each(['bash', 'zsh'] as const)(
        `${document.path} can be pasted into %s`,
        async (shell) => {
          // names in the documents are of the second in which they are pasted: this one has to be new
          await sleep(1_000 - (Date.now() % 1_000));
          expect((await faultsIn(document, shell, docs)).join('\n\n')).toBe('');
        },
        600_000,
      );
  });
}
