import { expect, test } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { readDocument } from './documents.ts';
import { type Docs, startFor } from './places.ts';
import { faultsIn } from './run.ts';

needDebian('zsh', 'curl');
const docs: Docs = await startFor({});

const page = (block: string, comment: string) =>
  readDocument('page.md', `Text\n\n\`\`\`sh\n${block}\n\`\`\`\n<!-- ${comment} -->\n`);

const faults = async (shell: 'bash' | 'zsh', block: string, comment: string) =>
  (await faultsIn(page(block, comment), shell, docs)).join('\n');

test('a comment at a prompt, a history word and a glob fail in zsh, and are not seen by bash', async () => {
  const comment = 'echo one # the first';
  expect(await faults('bash', comment, 'expect: one')).toBe('');
  expect(await faults('zsh', '# the first\necho one', 'expect: one')).toContain('command not found: #');
  expect(await faults('zsh', 'echo "wow!none"', 'expect: wow')).toContain('event not found');
  expect(await faults('zsh', 'echo http://127.0.0.1:3000/v1/feed?after=0', 'expect: feed')).toContain(
    'no matches found',
  );
});

test.each(['bash', 'zsh'] as const)('%s: what a block prints is compared with what it says', async (shell) => {
  const block = 'curl -sS http://127.0.0.1:3000/livez\nprintf \'{"a": [{"b": "x-1", "c": 2}]}\'';
  const check = (comment: string) => faults(shell, block, comment);
  expect(await check('expect:\n{"a": [{"b": "x-*"}]}\n/"c": \\d/')).toBe('');
  expect(await check('expect: {"a": [{"c": 3}]}')).toContain('page.md:3');
  expect(await check('expect: /never/')).toContain('does not print /never/');
  expect(await check('expect: nothing')).toContain('prints something');
});

test.each(['bash', 'zsh'] as const)('%s: what fails or is refused has to be said', async (shell) => {
  const missing = 'curl -sS http://127.0.0.1:3000/v1/tickets/none';
  expect(await faults(shell, missing, 'expect: /none/')).toContain('it is refused');
  expect(await faults(shell, missing, 'expect: {"code": "not_found"}')).toBe('');
  expect(await faults(shell, '(exit 3)\necho on', 'expect: on')).toContain('exit code 3');
  expect(await faults(shell, '(exit 3)\necho on', 'expect:\non\nexit 3')).toBe('');
  expect(await faults(shell, 'no-such-program; true', 'expect: /./')).toContain('command not found');
});

test.each(['bash', 'zsh'] as const)('%s: a program is left running until the end of its document', async (shell) => {
  const text = [
    [
      'node -e \'require("http").createServer((q, a) => a.end(console.log(q.url))).listen(4000)\'',
      'left running, expect: /called',
    ],
    ['curl -s --retry 9 --retry-connrefused http://127.0.0.1:4000/called', 'expect: nothing'],
  ].map(([block, comment]) => `\`\`\`sh\n${block}\n\`\`\`\n<!-- ${comment} -->\n`);
  expect((await faultsIn(readDocument('page.md', text.join('\n')), shell, docs)).join('\n')).toBe('');
  const uncalled = readDocument('page.md', text[0] ?? '');
  expect((await faultsIn(uncalled, shell, docs, 1_000)).join('\n')).toContain('left running');
});

test('an open block, an unnamed shell and a block without a comment are found', () => {
  expect(() => readDocument('page.md', '```sh\necho')).toThrow('page.md:1: the block has no end');
  expect(() => readDocument('page.md', '```bash\necho\n```')).toThrow('write ```sh');
  expect(readDocument('page.md', '```sh\necho\n```\nText').blocks).toMatchObject([{ mode: 'unsaid' }]);
});
