import { eventually } from '../support/client.ts';
import type { Block, Document } from './documents.ts';
import { faultsOf } from './expectations.ts';
import { partsOf } from './not-run.ts';
import { type Docs, removePlace } from './places.ts';
import { SHELLS, type Shell } from './shells.ts';

const ASIDE_MS = 20_000;

/**
 * Pastes a document's blocks into one shell, those to be left running each into one of its own.
 * @param asideMs how long what is left running has to print what it says
 * @returns what is wrong, a line each
 */
export async function faultsIn(
  document: Document,
  name: keyof typeof SHELLS,
  docs: Docs,
  asideMs = ASIDE_MS,
): Promise<string[]> {
  const blocks = document.blocks.filter(({ mode }) => mode !== 'not run');
  // before anything is pasted: `npm ci` would empty the folder from which the tests run
  const unfit = blocks.filter(({ mode, text }) => mode === 'unsaid' || partsOf(text).unable.length > 0);
  if (unfit.length > 0) return unfit.map(({ at }) => `${at}: not pasted, it does not say what it prints or cannot run`);
  const place = docs.place();
  const left: [Block, Shell][] = [];
  const shell = await SHELLS[name](place);
  const expected = (block: Block) => block.expected.map(docs.mapped);
  const faults: string[] = [];
  try {
    for (const block of blocks) {
      const text = docs.mapped(block.text);
      if (block.mode === 'aside') {
        const aside = await SHELLS[name](place);
        left.push([block, aside]);
        aside.leave(text);
        continue;
      }
      const pasted = await shell.paste(text);
      const found = faultsOf(pasted, expected(block));
      faults.push(...found.map((fault) => `${block.at} in ${name}: ${fault}\n${pasted.output.trim().slice(0, 2000)}`));
    }
    for (const [block, aside] of left) {
      const fault = await unseen(aside, expected(block), asideMs);
      if (fault) faults.push(`${block.at} in ${name}, left running: ${fault}`);
    }
  } finally {
    await Promise.all([shell, ...left.map(([, aside]) => aside)].map((each) => each.close()));
    removePlace(place);
  }
  return faults;
}

/** What a program that is left running has not printed in time. */
const unseen = (aside: Shell, expected: string[], ms: number) =>
  eventually(async () => {
    const faults = faultsOf(aside.seen(), expected);
    if (faults.length > 0) throw new Error(`${faults.join('; ')}\n${aside.seen().output.slice(0, 2000)}`);
    return true;
  }, ms).then(
    () => undefined,
    (error: Error) => error.message,
  );
