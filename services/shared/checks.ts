import type { z } from '@hono/zod-openapi';
import { isWorkflow } from '../../contract/common.ts';
import type { Callback } from '../../contract/items.ts';
import { refuseCallback } from '../../domain/callbacks.ts';
import { type Context, invalid, Problem } from './service.ts';

type Asked = Pick<Context, 'config' | 'client'>;

/** Why nothing may be sent to a URL, by the operator's settings of now; null: it may. */
export const refusedCallback = ({ config, client }: Asked, url: string): string | null =>
  refuseCallback(url, { ...config, ownNamespace: client.options.namespace });

/**
 * Checks a callback before its host is resolved.
 * @param path of the callback in the body
 * @throws Problem `invalid_request` when it may not be called
 */
export function checkCallback(ctx: Asked, path: string, callback: Callback | null | undefined): void {
  const refused = callback ? refusedCallback(ctx, callback.url) : null;
  if (callback && refused !== null) throw invalid(`${path}.${isWorkflow(callback.url) ? 'temporal' : 'url'}`, refused);
}

/** @throws Problem 422 for a zone in which the database cannot compute */
export async function checkZone({ db }: Context, name: string): Promise<void> {
  const [zone] = await db.run('is_zone', { name });
  if (!zone?.known) throw invalid('timezone', 'is not a time zone that the database knows');
}

/** Why a call gets no second look. */
const REFUSALS = {
  not_found: 'there is no such item',
  erased: 'it has been erased',
  not_final: 'it has no decision that could be looked at again',
  window_closed: 'the decision is too old to appeal against it',
  already_open: 'a second look is open already: wait for its outcome, or overturn the decision',
  forbidden: 'nobody looks at their own decision',
} as const;

/** @throws Problem where a call has got no look */
export function checkAnswer(answer: string): void {
  if (answer in REFUSALS) throw new Problem(answer as keyof typeof REFUSALS, REFUSALS[answer as keyof typeof REFUSALS]);
}

const MAX_DEPTH = 100;

/** A level of the walk: the node, its names (null: an array), and how many of its children were visited. */
interface Level {
  node: unknown[] | Record<string, unknown>;
  names: string[] | null;
  seen: number;
}

/**
 * Rejects NUL, lone surrogates and numbers that would be stored differently than they were sent. Walks without recursion,
 * because callers choose the depth, and keeps one entry per level, because 8 MB may hold four million values.
 * @throws Problem 422 with the path of the value
 */
export function checkValues(root: unknown): void {
  const levels: Level[] = [];
  const reject = (wrong: string) => {
    const path = levels.map(({ names, seen }) => names?.[seen - 1] ?? seen - 1).join('.');
    throw new Problem('invalid_request', `${path || 'the body'} ${wrong}`, { errors: [{ path, message: wrong }] });
  };
  const enter = (value: unknown) => {
    const wrong = wrongness(value, levels.length);
    if (wrong) reject(wrong);
    if (Array.isArray(value)) levels.push({ node: value, names: null, seen: 0 });
    else if (typeof value === 'object' && value !== null)
      levels.push({ node: value as Record<string, unknown>, names: Object.keys(value), seen: 0 });
  };
  enter(root);
  for (let at = levels.at(-1); at; at = levels.at(-1)) {
    const { node, names } = at;
    const n = at.seen++;
    if (n === (names ?? (node as unknown[])).length) {
      levels.pop();
      continue;
    }
    const name = names?.[n];
    const wrong = name === '__proto__' ? 'is not allowed as a name' : wrongness(name, levels.length - 1);
    if (wrong) reject(wrong);
    enter(name === undefined ? (node as unknown[])[n] : (node as Record<string, unknown>)[name]);
  }
}

function wrongness(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'contains a NUL character';
    if (!value.isWellFormed()) return 'contains half of a surrogate pair';
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'is a number out of range';
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      return 'is a whole number beyond 2^53 − 1, which JSON readers round: send it as a string';
  }
  return null;
}

/** The problem that lists every wrong field by its path. Never contains a value. */
export function problemOf(error: z.ZodError, where: string): Problem {
  const errors = error.issues
    .flatMap(plainly)
    .slice(0, 50)
    .map((i) => ({ path: i.path.join('.'), message: i.message }));
  const first = errors[0];
  return new Problem('invalid_request', `${where}: ${first?.path ? `${first.path}: ` : ''}${first?.message}`, {
    errors,
  });
}

/** Of unknown fields, an issue each; of a union, those of the closest alternative: one of another type is the furthest. */
export function plainly(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      ...issue,
      path: [...issue.path, key.slice(0, 100)],
      message: 'is not a known field',
    }));
  if (issue.code !== 'invalid_union') return [issue];
  const distance = (issues: z.core.$ZodIssue[]) =>
    issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0) ? Infinity : issues.length;
  const [nearest] = issue.errors.map((all) => all.flatMap(plainly)).sort((a, b) => distance(a) - distance(b));
  return nearest?.map((i) => ({ ...i, path: [...issue.path, ...i.path] })) ?? [issue];
}
