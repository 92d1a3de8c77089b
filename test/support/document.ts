import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field in the tests
export type Json = any;

const FILE = 'docs/openapi.json';
export const document: Json = JSON.parse(readFileSync(FILE, 'utf8'));
const ajv = new Ajv2020({
  strict: false,
  // a body may hold any number that JSON can write, also one that is infinite to JavaScript
  strictNumbers: false,
  // only parameters have formats
  validateFormats: false,
  // the document is no JSON Schema itself; that its schemas are right is a test of its own
  ...{ validateSchema: false, meta: false },
}).addSchema(document, FILE);

/** The paths with fewer parameters first: `/v1/tickets/resolve` is no `/v1/tickets/{id}`. */
const paths = Object.keys(document.paths)
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));

/** The JSON pointer to a place, as a fragment has it. */
export const pointer = (...names: (string | number)[]): string =>
  names.map((name) => `/${encodeURIComponent(String(name).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

const validators = new Map<string, ValidateFunction>();
/** Checks values by the schema at a place of the document, a JSON pointer. */
export function validatorOf(place: string): ValidateFunction {
  const known = validators.get(place) ?? ajv.compile({ $ref: `${FILE}#${place}` });
  validators.set(place, known);
  return known;
}

export interface Answered {
  method: string;
  /** The whole address that was called. */
  url: string;
  status: number;
  contentType: string;
  /** Parsed where it is JSON. */
  body: unknown;
}

/**
 * Checks an answer against the OpenAPI document. Calls of what the document doesn't have are not checked, nor is the
 * content of streams.
 * @throws Error that names the call, its status, the place in the answer and what is wrong there
 */
export function checkAnswer({ method, url, status, contentType, body }: Answered): void {
  const { pathname } = new URL(url);
  const path = paths.find(({ pattern }) => pattern.test(pathname))?.path;
  const operation = document.paths[path ?? '']?.[method.toLowerCase()];
  if (path === undefined || !operation) return;
  const wrong = (what: string) => new Error(`${method} ${pathname} answered ${status}, and ${what}: see ${FILE}`);
  const own = operation.responses[status];
  if (!own) throw wrong(`${path} has no such status`);
  const shared: string | undefined = own.$ref?.split('/').at(-1);
  const { content } = shared === undefined ? own : document.components.responses[shared];
  if (!content) {
    if (body !== '') throw wrong('it has a body');
    return;
  }
  const [media] = contentType.split(';');
  const type = Object.keys(content).find((one) => one.split(';')[0] === media);
  if (type === undefined) throw wrong(`it is ${contentType} instead of ${Object.keys(content)}`);
  if (!/[/+]json$/.test(type)) return;
  const here = ['paths', path, method.toLowerCase(), 'responses', status];
  const where = shared === undefined ? here : ['components', 'responses', shared];
  const validate = validatorOf(pointer(...where, 'content', type, 'schema'));
  if (!validate(body)) throw wrong(`its body ${described(validate.errors ?? [], body)}`);
}

/** Of the shapes that something may have, the one that got furthest says what is wrong. */
function described(errors: ErrorObject[], body: unknown): string {
  const depth = (error: ErrorObject) => error.instancePath.split('/').length;
  const [furthest] = [...errors].sort((a, b) => depth(b) - depth(a));
  const { instancePath = '', message = '', params } = furthest ?? {};
  const names = instancePath.split('/').slice(1);
  const value = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[nameOf(name)], body);
  return `at ${instancePath || '/'} ${message} ${JSON.stringify(params)}, is ${JSON.stringify(value)?.slice(0, 500)}`;
}

const nameOf = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
