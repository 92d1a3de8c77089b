import type { Json } from '../support/client.ts';

/** What a pasted block came to. */
export interface Pasted {
  output: string;
  /** Exit codes other than 0, of all its commands. */
  failures: number[];
}

/** Never what a document wants to show, unless it says so. */
const UNWANTED =
  /.*(?:command not found|not found:|parse error|syntax error|no matches found|event not found|unexpected EOF|bad (?:substitution|pattern)|unknown sort specifier|curl: \(\d+\)).*/g;

/**
 * What is wrong with the output of a block, a line each. An expectation is `nothing`; `exit <code>` of a command that
 * fails; a JSON fragment (an object's fields and an array's elements that must be there, `*` in a string for anything); a
 * regular expression between slashes; else a text. Problems of the API and failed commands must be expected.
 */
export function faultsOf({ output, failures }: Pasted, expected: string[]): string[] {
  const values = jsonValues(output);
  const faults = expected.flatMap((line) => missing(line, output, values, failures));
  const isExpected = (text: string) => expected.some((line) => line.match(UNWANTED) && text.includes(line));
  for (const [line] of output.matchAll(UNWANTED)) if (!isExpected(line)) faults.push(`it prints: ${line.trim()}`);
  for (const code of failures)
    if (!expected.includes(`exit ${code}`)) faults.push(`a command of it ends with the exit code ${code}`);
  for (const value of values.filter(isRefusal)) {
    const shown = JSON.stringify(value);
    const named = expected.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json);
    if (!named.some((e) => isRefusal(e) && contains(value, e))) faults.push(`it is refused: ${shown.slice(0, 300)}`);
  }
  return faults;
}

function missing(line: string, output: string, values: Json[], failures: number[]): string[] {
  if (line === 'nothing') return output.trim() === '' ? [] : [`it prints something: ${output.trim().slice(0, 300)}`];
  const [, code] = /^exit (\d+)$/.exec(line) ?? [];
  if (code !== undefined) return failures.includes(Number(code)) ? [] : [`no command of it ends with ${code}`];
  if (/^[{[]/.test(line)) {
    const wanted = JSON.parse(line) as Json;
    return values.some((value) => contains(value, wanted)) ? [] : [`it does not print ${line}`];
  }
  return matches(line, output) ? [] : [`it does not print ${line}`];
}

function matches(line: string, text: string): boolean {
  const [, pattern, flags] = /^\/(.*)\/([a-z]*)$/.exec(line) ?? [];
  return pattern === undefined ? text.includes(line) : new RegExp(pattern, `${flags}m`).test(text);
}

/** A problem, or a job's command that failed; also the fragment that expects one. */
const isRefusal = (value: Json): boolean =>
  value?.success === false || (typeof value?.code === 'string' && value?.results === undefined);

function contains(value: Json, wanted: Json): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(value) && wanted.every((w) => value.some((v: Json) => contains(v, w)));
  if (wanted !== null && typeof wanted === 'object')
    return (
      value !== null &&
      typeof value === 'object' &&
      Object.entries(wanted).every(([name, w]) => name in value && contains(value[name], w))
    );
  if (typeof wanted !== 'string' || !wanted.includes('*')) return Object.is(value, wanted);
  const pattern = wanted.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return typeof value === 'string' && new RegExp(`^${pattern.join('[\\s\\S]*')}$`).test(value);
}

/** All objects and arrays in a text, one after the other, whatever is between them. */
function jsonValues(text: string): Json[] {
  const found: Json[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '{' && text[at] !== '[') continue;
    const end = endOfValue(text, at);
    if (end === undefined) continue;
    try {
      found.push(JSON.parse(text.slice(at, end)));
      at = end - 1;
    } catch {
      // a brace of something else
    }
  }
  return found;
}

/** Behind the bracket that closes the one at `start`. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start, quoted = false; at < text.length; at++) {
    const c = text[at] ?? '';
    if (quoted) {
      if (c === '\\') at++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if ('{['.includes(c)) depth++;
    else if ('}]'.includes(c) && --depth === 0) return at + 1;
  }
  return undefined;
}
