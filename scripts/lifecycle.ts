import { writeFileSync } from 'node:fs';
import { KINDS } from '../contract/kinds.ts';
import type { Kind } from '../contract/snapshot.ts';
import { isFinal, stateWord } from '../domain/items.ts';
import { kindOf } from '../domain/kinds.ts';
import { type Transition, transitionsOf } from '../domain/lifecycle.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../docs/lifecycle.md', import.meta.url);
const HEADER = `# Lifecycle

<!-- Written by \`npm run lifecycle\` from the lifecycles in domain/; \`npm run check\` fails when it is not what that makes. -->

The states of each kind of item, by the words of its API, and the events that lead from one to the next. An event that leads to
several states depends on more than the state: a delay, a number of attempts, other dispatches. Tests record every transition that
the database makes, and fail on one that is not here.`;

/** The document: a diagram for each kind, and below it the events that leave a state as it is. */
export const lifecycleText = () => `${[HEADER, ...KINDS.map(sectionOf)].join('\n\n')}\n`;

function sectionOf(kind: Kind): string {
  const all = transitionsOf(kind);
  const name = (state: Transition['from']) => (state === 'none' ? '[*]' : stateWord(kind, state));
  const moving = all.filter((t) => t.from !== t.to);
  const arrows = grouped(moving, (t) => `${name(t.from)} --> ${name(t.to)}`).map(([arrow, e]) => `  ${arrow}: ${e}`);
  const over = [...new Set(all.map((t) => t.to))].filter(isFinal);
  const ends = over.map((state) => `  ${name(state)} --> [*]`);
  const staying = all.filter((t) => t.from === t.to);
  const lines = grouped(staying, (t) => name(t.from)).map(([state, events]) => `- ${state}: ${events}`);
  const diagram = ['```mermaid', 'stateDiagram-v2', ...arrows, ...ends, '```'];
  return [`## ${kindOf(kind).title}`, '', ...diagram, '', 'Events that leave the state as it is:', '', ...lines].join(
    '\n',
  );
}

/** The events of transitions that have something in common, as one text. */
function grouped(transitions: Transition[], by: (t: Transition) => string): [string, string][] {
  const groups = new Map<string, string>();
  for (const t of transitions) groups.set(by(t), [groups.get(by(t)) ?? [], t.event].flat().join(', '));
  return [...groups];
}

/** What is different between the committed document and the table. */
export const checkLifecycle = (): string[] => differences('docs/lifecycle.md', committed(FILE), lifecycleText());

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, lifecycleText());
  console.log('docs/lifecycle.md is written');
}
