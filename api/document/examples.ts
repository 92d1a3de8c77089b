import { readFileSync } from 'node:fs';
import { courtExamples } from './examples/courts.ts';
import type { Answers, Example, Examples } from './examples/example.ts';
import { jobExamples } from './examples/jobs.ts';
import { reviewExamples } from './examples/reviews.ts';
import { systemExamples } from './examples/system.ts';
import { taskExamples } from './examples/tasks.ts';
import { ticketExamples } from './examples/tickets.ts';

export type { Answers, Example } from './examples/example.ts';

/** By operation. */
export const EXAMPLES: Examples = {
  ...ticketExamples,
  ...jobExamples,
  ...reviewExamples,
  ...courtExamples,
  ...taskExamples,
  ...systemExamples,
};

/** What a server answered to them when the story was played (test/api/story.test.ts). */
const RECORDED: Record<string, Answers> = JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8'));

export const exampleOf = (operation: string): Example => EXAMPLES[operation] ?? {};

export const answersOf = (operation: string): Answers => exampleOf(operation).answers ?? RECORDED[operation] ?? {};
