import { isObject } from '../../components/form/draft.ts';

interface Side {
  name: string;
  value: unknown;
}

export interface Sides {
  /** What each side says; empty: the body does not tell them apart. */
  sides: Side[];
  /** What belongs to no side; undefined: nothing. */
  rest: unknown;
}

/** Where statements stand, if not at the top. */
const FIELDS = ['statements', 'sides', 'parties'];
/** By what a statement in a list names its side. */
const NAMES = ['side', 'party', 'option', 'name'];

/**
 * Tells both sides of a case apart: fields that are called as the court's options, in the body or under `statements`; or a list of
 * statements.
 */
export function sidesOf(body: unknown, options: readonly string[]): Sides {
  if (!isObject(body)) return { sides: [], rest: body };
  const atTop = named(body, options);
  if (atTop) return { sides: atTop, rest: without(body, options) };
  for (const field of FIELDS) {
    const inner = body[field];
    const sides = isObject(inner) ? named(inner, options) : Array.isArray(inner) ? listed(inner) : null;
    if (sides) return { sides, rest: without(body, [field]) };
  }
  return { sides: [], rest: body };
}

function named(body: Record<string, unknown>, options: readonly string[]): Side[] | null {
  const sides = options.filter((name) => Object.hasOwn(body, name)).map((name) => ({ name, value: body[name] }));
  return sides.length > 1 ? sides : null;
}

function listed(statements: unknown[]): Side[] | null {
  if (statements.length < 2 || !statements.every(isObject)) return null;
  return statements.map((one, n) => {
    const field = NAMES.find((name) => typeof one[name] === 'string');
    return { name: field ? String(one[field]) : String(n + 1), value: field ? without(one, [field]) : one };
  });
}

function without(body: Record<string, unknown>, names: readonly string[]): unknown {
  const others = Object.entries(body).filter(([name]) => !names.includes(name));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}
