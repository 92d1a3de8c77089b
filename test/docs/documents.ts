import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A shell block of a document, with what the comment after it says. */
export interface Block {
  /** `docs/guides/tickets.md:42`, for messages. */
  at: string;
  text: string;
  /**
   * `run`: pasted, and over when the shell takes the next line; `aside`: left running in a terminal of its own;
   * `not run`: it cannot run in a test; `unsaid`: no comment says what it prints.
   */
  mode: 'run' | 'aside' | 'not run' | 'unsaid';
  /** What the output must contain, a line each; of `not run`: the reason. */
  expected: string[];
}

export interface Document {
  path: string;
  /** The environment with which the document has its reader start Docket. */
  environment: Record<string, string>;
  blocks: Block[];
}

const MODES = { expect: 'run', 'left running, expect': 'aside', 'not run': 'not run' } as const;
const COMMENT = /^\s*<!--\s*(expect|left running, expect|not run):([\s\S]*?)-->/;
const STARTED_WITH = /^<!-- started with: (.*?) -->/m;
/** The language of a block that is pasted, and those that would hide one from the test. */
const FENCE = /^( *)```(\S*)\s*$/;
const OTHER_SHELLS = new Set(['bash', 'zsh', 'shell', 'console', 'shellsession', 'terminal']);

/** Reads the shell blocks of a Markdown text. @throws Error for a fence that is left open, or another word for `sh` */
export function readDocument(path: string, text: string): Document {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let n = 0; n < lines.length; n++) {
    const [, indent = '', language = ''] = FENCE.exec(lines[n] ?? '') ?? [];
    if (!FENCE.test(lines[n] ?? '')) continue;
    const at = `${path}:${n + 1}`;
    if (OTHER_SHELLS.has(language)) throw new Error(`${at}: write \`\`\`sh, not \`\`\`${language}`);
    const end = lines.findIndex((line, m) => m > n && line.trimEnd() === `${indent}\`\`\``);
    if (end < 0) throw new Error(`${at}: the block has no end`);
    const body = lines.slice(n + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    if (language === 'sh') blocks.push({ at, text: body.join('\n'), ...said(lines.slice(end + 1).join('\n')) });
    n = end;
  }
  const pairs = (STARTED_WITH.exec(text)?.[1] ?? '').split(' ').filter((pair) => pair !== '');
  return { path, environment: Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])), blocks };
}

/** What the comment says with which the text after a block begins. */
function said(after: string): Pick<Block, 'mode' | 'expected'> {
  const [, word, body = ''] = COMMENT.exec(after) ?? [];
  if (word === undefined) return { mode: 'unsaid', expected: [] };
  const expected = body
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { mode: MODES[word as keyof typeof MODES], expected };
}

/** Every document of this checkout that has shell blocks. */
export function documents(): Document[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    encoding: 'utf8',
  });
  const paths = [...new Set(listed.split('\n'))].filter((path) => path !== '' && existsSync(path)).sort();
  return paths.map((path) => readDocument(path, readFileSync(path, 'utf8'))).filter(({ blocks }) => blocks.length > 0);
}
