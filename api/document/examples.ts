import { readFileSync } from 'node:fs';
import type { ProblemCode } from '../../contract/problems.ts';

/** A call that works. Together they tell one story, which test/api/story.test.ts plays on a server. */
export interface Example {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  /** Several bodies by name, in place of `body`. Pages to try the API out begin with the first one. */
  bodies?: Record<string, { summary: string; value: unknown }>;
  /** Answers that differ from call to call. All others are recorded. */
  answers?: Answers;
}

/** By status; for an operation with several bodies, by the name of the body below that. */
export type Answers = Record<string, unknown>;

const readJson = (file: string) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** By operation. */
export const EXAMPLES: Record<string, Example> = readJson('examples.json');

/** The answers of a server to these calls, written by `npm run examples`. */
const RECORDED: Record<string, Answers> = readJson('answers.json');

/** Details of problems by code, with the members that only this code has. */
export const PROBLEM_EXAMPLES: Record<ProblemCode, { detail: string }> = readJson('problems.json');

export const exampleOf = (operation: string): Example => EXAMPLES[operation] ?? {};

export const answersOf = (operation: string): Answers => exampleOf(operation).answers ?? RECORDED[operation] ?? {};
