import { localText, momentOf } from './moments.ts';
import type { BuiltField, FieldSpec, Given, LeafSpec } from './spec.ts';

/** What stands in the inputs of an object: texts as they were typed, so that nothing half-written is lost. */
export interface Draft {
  /** The object as it was given; what no field is about goes back as it came. */
  base: Given;
  values: Readonly<Record<string, DraftValue>>;
}
export type DraftValue = string | boolean | null | Draft | readonly Draft[];

export interface FieldError {
  path: string;
  message: string;
}

/** Faults that the console finds before it calls the API. */
type Fault = 'required' | 'twice' | 'number' | 'integer' | 'range' | 'length' | 'pattern' | 'json' | 'moment';

export const isDraft = (value: DraftValue | undefined): value is Draft =>
  typeof value === 'object' && value !== null && 'values' in value;

/** A draft that came as JSON; undefined: it is none. */
export function asDraft(given: unknown): Draft | undefined {
  const { values } = (given ?? {}) as { values?: unknown };
  if (typeof values !== 'object' || values === null) return undefined;
  const isValue = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.every((row) => asDraft(row) !== undefined)
      : value === null || typeof value === 'string' || typeof value === 'boolean' || asDraft(value) !== undefined;
  return Object.values(values).every(isValue) ? { base: {}, values: values as Draft['values'] } : undefined;
}

/** The inputs for an object. */
export function draftOf(fields: readonly FieldSpec[], given: Given): Draft {
  return {
    base: given,
    values: Object.fromEntries(fields.map((field) => [field.name, shown(field, given[field.name])])),
  };
}

/** The inputs for a new object: the values that the API would take. */
export function emptyDraft(fields: readonly FieldSpec[]): Draft {
  return { base: {}, values: Object.fromEntries(fields.map((field) => [field.name, fresh(field)])) };
}

/** The inputs that are not empty, by path. */
export function filled({ values }: Draft, at = ''): [path: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${at}${name}`;
    if (isDraft(value)) return filled(value, `${path}.`);
    if (Array.isArray(value)) return value.flatMap((row: Draft, n) => filled(row, `${path}.${n}.`));
    return value ? [[path, String(value)]] : [];
  });
}

/** The inputs that say a value without loss; null: there are none. */
export function builtDraft(field: BuiltField, value: unknown): Draft | null {
  try {
    const parts = field.partsOf(value);
    const draft = parts && draftOf(field.fields, parts);
    const said = draft && field.valueOf(readObject(field.fields, draft, '', () => {}));
    return value === undefined || isSame(said, value) ? draft : null;
  } catch {
    // someone who writes JSON may write anything
    return null;
  }
}

/** Whether a value of JSON is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list that was left out is empty. */
const isNone = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);

/** Whether two values say the same, in whatever order their fields stand. */
export function isSame(a: unknown, b: unknown): boolean {
  if (isNone(a) && isNone(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [a as Given, b as Given];
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  return [...names].every((name) => isSame(mine[name], theirs[name]));
}

function shown(field: FieldSpec, value: unknown): DraftValue {
  switch (field.kind) {
    case 'built':
      return builtDraft(field, value) ?? JSON.stringify(value, null, 2);
    case 'flag':
      return value === true;
    case 'json':
      return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
    case 'param':
      return value === undefined || (field.type === 'string' && typeof value === 'string')
        ? ((value ?? '') as string)
        : JSON.stringify(value, null, 2);
    case 'one':
      return value === undefined ? '' : JSON.stringify(value);
    case 'lines':
      return Array.isArray(value) ? value.join('\n') : '';
    case 'several':
      return Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join('\n') : '';
    case 'moment':
      return typeof value === 'string' ? localText(value) : '';
    case 'object':
      return draftOf(field.fields, (value ?? {}) as Given);
    case 'optional':
      return value ? draftOf(field.fields, value as Given) : null;
    case 'rows':
      return ((value ?? []) as Given[]).map((row) => draftOf(field.fields, row));
    case 'variants': {
      const of = field.variants.find(({ name }) => typeof value === 'object' && value !== null && name in value);
      return of ? draftOf([of], value as Given) : null;
    }
    default:
      return value === null || value === undefined ? '' : String(value);
  }
}

function fresh(field: FieldSpec): DraftValue {
  switch (field.kind) {
    case 'object':
      return emptyDraft(field.fields);
    case 'optional':
    case 'variants':
      return null;
    case 'rows':
      return [];
    default:
      return shown(field, 'initial' in field ? field.initial : undefined);
  }
}

/** The object that the inputs stand for, and their errors by the paths that the API uses. A field that is left out is undefined. */
export function read(
  fields: readonly FieldSpec[],
  draft: Draft,
  wrong: Readonly<Record<Fault, string>>,
): { value: Record<string, unknown>; errors: FieldError[] } {
  const errors: FieldError[] = [];
  return { value: readObject(fields, draft, '', (path, kind) => errors.push({ path, message: wrong[kind] })), errors };
}

type Report = (kind: Fault) => void;
type ReportAt = (path: string, kind: Fault) => void;

function readObject(fields: readonly FieldSpec[], draft: Draft, at: string, report: ReportAt): Record<string, unknown> {
  const values = fields.map((field) => {
    const { name, onlyIf } = field;
    const isAsked = onlyIf?.(draft.values) ?? true;
    return [name, isAsked ? readField(field, draft.values[name] ?? '', `${at}${name}`, report) : undefined];
  });
  return { ...draft.base, ...Object.fromEntries(values) };
}

function readField(field: FieldSpec, input: DraftValue, path: string, report: ReportAt): unknown {
  switch (field.kind) {
    case 'fixed':
      return field.value;
    case 'object': {
      // the draft may be older than the form
      const draft = isDraft(input) ? input : emptyDraft(field.fields);
      const isLeftOut = field.empty === 'omit' && filled(draft).length === 0;
      return isLeftOut ? undefined : readObject(field.fields, draft, `${path}.`, report);
    }
    case 'optional':
      return isDraft(input) ? readObject(field.fields, input, `${path}.`, report) : null;
    case 'built':
      if (isDraft(input)) return field.valueOf(readObject(field.fields, input, `${path}.`, report));
      return readText({ ...field, kind: 'json' }, String(input), (kind) => report(path, kind));
    case 'rows': {
      const rows = input as readonly Draft[];
      const { unique = '' } = field;
      const before = new Set<unknown>();
      for (const [n, { values }] of rows.entries())
        if (values[unique] && before.size === before.add(values[unique]).size)
          report(`${path}.${n}.${unique}`, 'twice');
      return rows.map((row, n) => readObject(field.fields, row, `${path}.${n}.`, report));
    }
    case 'variants': {
      const chosen = isDraft(input) && field.variants.find(({ name }) => name in input.values);
      return chosen ? readObject([chosen], input as Draft, `${path}.`, report) : null;
    }
    case 'flag':
      return input === true;
    default:
      return readText(field, typeof input === 'string' ? input : '', (kind) => report(path, kind));
  }
}

const VERBATIM: ReadonlySet<LeafSpec['kind']> = new Set(['text', 'json', 'param']);

function readText(field: Exclude<LeafSpec, { kind: 'flag' }>, input: string, report: Report): unknown {
  if (field.kind === 'several') return readSeveral(field, input, report);
  const text = VERBATIM.has(field.kind) ? input : input.trim();
  const isUnknown = field.kind === 'one' && !field.options.some(([known]) => known === text);
  // of a choice the empty one says that none is chosen
  if (field.kind === 'choice' && text === '' && field.options.some(([known]) => known === '')) return undefined;
  if (text.trim() === '' || isUnknown) {
    const empty = field.kind === 'param' ? 'omit' : 'empty' in field ? field.empty : 'required';
    if (empty === 'required') report('required');
    return empty === 'null' ? null : undefined;
  }
  switch (field.kind) {
    case 'text':
      return checkText(field, text, report);
    case 'number':
      return readNumber(field, text, report);
    case 'json':
      return parsed(text, () => report('json'));
    case 'one':
      return JSON.parse(text);
    case 'param':
      // what is no JSON goes as it is, so that the API says what it should be
      return field.type === 'string' ? text : parsed(text, () => text);
    case 'lines':
      return text.split('\n').flatMap((line) => line.trim() || []);
    case 'moment':
      return momentOf(text) ?? report('moment');
    default:
      return text;
  }
}

type Of<K extends LeafSpec['kind']> = Extract<LeafSpec, { kind: K }>;

function readSeveral({ options, least, empty }: Of<'several'>, input: string, report: Report): unknown {
  const chosen = input.split('\n').filter((text) => options.some(([known]) => known === text));
  if (chosen.length === 0 && empty !== 'required') return empty === 'null' ? null : undefined;
  if (chosen.length < least) report('required');
  // an empty list is an answer where `least` is 0
  if (chosen.length === 0 && least > 0) return undefined;
  return chosen.map((text) => JSON.parse(text));
}

function checkText({ least = 0, most = Number.POSITIVE_INFINITY, pattern }: Of<'text'>, text: string, report: Report) {
  const length = [...text].length;
  if (length < least || length > most) report('length');
  else if (pattern !== undefined && !fits(pattern, text)) report('pattern');
  return text;
}

function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    // the API's own syntax; it checks the text again
    return true;
  }
}

function readNumber({ isInteger, least, most }: Of<'number'>, text: string, report: Report): number | null {
  // not 0x10; and 1,000 may be one thousand or one
  const isOne = /^[-+]?(\d+|\d*[.,]\d+)$/.test(text) && !/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text);
  const n = isOne ? Number(text.replace(',', '.')) : Number.NaN;
  if (!Number.isFinite(n)) report('number');
  else if (isInteger && !Number.isInteger(n)) report('integer');
  else if ((least !== undefined && n < least) || (most !== undefined && n > most)) report('range');
  return n;
}

function parsed(text: string, otherwise: () => unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise();
  }
}
