import { localText, momentOf } from './moments.ts';
import type { FieldSpec, LeafSpec } from './spec.ts';

/** What stands in the inputs of an object: texts as they were typed, so that nothing half-written is lost. */
export interface Draft {
  /** The object as it was given; what no field is about goes back as it came. */
  base: Readonly<Record<string, unknown>>;
  values: Readonly<Record<string, DraftValue>>;
}
export type DraftValue = string | boolean | null | Draft | readonly Draft[];

export interface FieldError {
  path: string;
  message: string;
}

/** What is wrong with an input before the API sees it. */
export interface Wrong {
  required: string;
  number: string;
  json: string;
  moment: string;
}

type Given = Readonly<Record<string, unknown>>;

export const isDraft = (value: DraftValue | undefined): value is Draft =>
  typeof value === 'object' && value !== null && 'values' in value;

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

function shown(field: FieldSpec, value: unknown): DraftValue {
  switch (field.kind) {
    case 'flag':
      return value === true;
    case 'json':
      return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
    case 'param':
      return value === undefined || (field.type === 'string' && typeof value === 'string')
        ? ((value ?? '') as string)
        : JSON.stringify(value, null, 2);
    case 'lines':
      return Array.isArray(value) ? value.join('\n') : '';
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

/** The object that the inputs say, with what is wrong in them; paths are those of the API's answers. */
export function read(
  fields: readonly FieldSpec[],
  draft: Draft,
  wrong: Wrong,
): { value: Record<string, unknown>; errors: FieldError[] } {
  const errors: FieldError[] = [];
  return { value: readObject(fields, draft, '', (path, kind) => errors.push({ path, message: wrong[kind] })), errors };
}

type Report = (path: string, kind: keyof Wrong) => void;

function readObject(fields: readonly FieldSpec[], draft: Draft, at: string, report: Report): Record<string, unknown> {
  const value: Record<string, unknown> = { ...draft.base };
  for (const field of fields) {
    const said = readField(field, draft.values[field.name] ?? '', `${at}${field.name}`, report);
    if (said === undefined) delete value[field.name];
    else value[field.name] = said;
  }
  return value;
}

function readField(field: FieldSpec, input: DraftValue, path: string, report: Report): unknown {
  switch (field.kind) {
    case 'object':
    case 'optional':
      return isDraft(input) ? readObject(field.fields, input, `${path}.`, report) : null;
    case 'rows':
      return (input as readonly Draft[]).map((row, n) => readObject(field.fields, row, `${path}.${n}.`, report));
    case 'variants': {
      const chosen = isDraft(input) && field.variants.find(({ name }) => name in input.values);
      return chosen ? readObject([chosen], input as Draft, `${path}.`, report) : null;
    }
    case 'flag':
      return input === true;
    default:
      return readText(field, typeof input === 'string' ? input : '', path, report);
  }
}

const VERBATIM: ReadonlySet<LeafSpec['kind']> = new Set(['text', 'json', 'param']);

function readText(field: Exclude<LeafSpec, { kind: 'flag' }>, input: string, path: string, report: Report): unknown {
  const text = VERBATIM.has(field.kind) ? input : input.trim();
  if (text.trim() === '') {
    const empty = field.kind === 'param' ? 'omit' : 'empty' in field ? field.empty : 'required';
    if (empty === 'required') report(path, 'required');
    return empty === 'null' ? null : undefined;
  }
  switch (field.kind) {
    case 'number':
      return readNumber(text, path, report);
    case 'json':
      return readJson(text, path, report);
    case 'param':
      return field.type === 'string' ? text : parsed(text);
    case 'lines':
      return text.split('\n').flatMap((line) => line.trim() || []);
    case 'moment': {
      const iso = momentOf(text);
      if (iso === null) report(path, 'moment');
      return iso;
    }
    default:
      return text;
  }
}

function readNumber(text: string, path: string, report: Report): number | null {
  const n = Number(text);
  if (Number.isFinite(n)) return n;
  report(path, 'number');
  return null;
}

/** What is no JSON goes as it is, so that the API says what it should be. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readJson(text: string, path: string, report: Report): unknown {
  try {
    return JSON.parse(text);
  } catch {
    report(path, 'json');
    return null;
  }
}
