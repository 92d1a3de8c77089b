import type { Field } from './schema.ts';

/** What someone has filled in, by the fields' paths: the number of an option, of several, or what they typed. */
export type Draft = Readonly<Record<string, number | readonly number[] | string>>;

/** Why a field's value will not do, by the names of web/texts. */
export type Fault = 'required' | 'number' | 'integer' | 'range' | 'length' | 'pattern' | 'json';

export interface Composed {
  /** undefined: nothing was filled in. */
  value: unknown;
  faults: Readonly<Record<string, Fault>>;
}

/** The decision that a draft stands for, and what keeps it from being one. */
export function compose(form: Field, draft: Draft): Composed {
  const faults: Record<string, Fault> = {};
  const value = partOf(form, draft, faults);
  return { value, faults };
}

function partOf(field: Field, draft: Draft, faults: Record<string, Fault>): unknown {
  if (field.kind === 'fixed') return field.required ? field.value : undefined;
  if (field.kind === 'group') return groupOf(field, draft, faults);
  const given = draft[field.path];
  const value = read(field, given);
  if (value === undefined) {
    if (field.required) faults[field.path] = 'required';
    return undefined;
  }
  if (value instanceof Wrong) {
    faults[field.path] = value.fault;
    return undefined;
  }
  return value;
}

/** A group that may be missing is, until something in it is filled in. */
function groupOf(field: Field & { kind: 'group' }, draft: Draft, faults: Record<string, Fault>): unknown {
  const isTouched = Object.keys(draft).some((path) => path.startsWith(`${field.path}/`) && !isEmpty(draft[path]));
  if (!field.required && !isTouched) return undefined;
  const parts = field.fields.map((inner) => [inner.name, partOf(inner, draft, faults)] as const);
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}

const isEmpty = (given: Draft[string] | undefined) => given === '' || (Array.isArray(given) && given.length === 0);

class Wrong {
  readonly fault: Fault;
  constructor(fault: Fault) {
    this.fault = fault;
  }
}

/** undefined: left empty. */
function read(field: Field, given: Draft[string] | undefined): unknown {
  // of several nothing is chosen, which is an answer
  if (given === undefined && field.kind === 'choices' && field.required && field.least === 0) return [];
  if (given === undefined || given === '') return undefined;
  if (field.kind === 'choice') return field.options[given as number]?.value;
  if (field.kind === 'choices') {
    const chosen = given as readonly number[];
    if (chosen.length === 0 && !field.required) return undefined;
    return chosen.length < field.least ? new Wrong('required') : chosen.map((n) => field.options[n]?.value);
  }
  const typed = String(given);
  if (field.kind === 'text') return readText(field, typed);
  if (field.kind === 'number') return readNumber(field, typed);
  return readJson(typed);
}

function readText({ least, most = Number.POSITIVE_INFINITY, pattern }: Field & { kind: 'text' }, typed: string) {
  const length = [...typed].length;
  if (length < least || length > most) return new Wrong('length');
  return pattern !== undefined && !fits(pattern, typed) ? new Wrong('pattern') : typed;
}

function fits(pattern: string, typed: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(typed);
  } catch {
    // the API reads it in another way, and has the last word
    return true;
  }
}

function readNumber({ isInteger, least, most }: Field & { kind: 'number' }, typed: string) {
  // 1,000 is a thousand to some and one to others
  if (/^[-+]?[1-9]\d{0,2},\d{3}$/.test(typed.trim())) return new Wrong('number');
  const value = Number(typed.trim().replace(',', '.'));
  if (!Number.isFinite(value)) return new Wrong('number');
  if (isInteger && !Number.isInteger(value)) return new Wrong('integer');
  const isOutside = (least !== undefined && value < least) || (most !== undefined && value > most);
  return isOutside ? new Wrong('range') : value;
}

/** Of JSON as it was typed. */
function readJson(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return new Wrong('json');
  }
}

/** Most keys that there are for options. */
const KEYS = 9;

/** The field whose options decide by one key: the first that must be filled in, else the first. */
export function verdictOf(form: Field): (Field & { kind: 'choice' }) | null {
  const fields = form.kind === 'group' ? form.fields : [form];
  const able = fields.filter((f) => f.kind === 'choice').filter((f) => f.options.length <= KEYS);
  return able.find((f) => f.required) ?? able[0] ?? null;
}

/** Each fault that the API has found, by the field that it is about; others stand for themselves. */
export function faultsOf(errors: readonly { path: string; message: string }[]): Record<string, string> {
  const own = errors.filter(({ path }) => /^decision(\/|$)/.test(path));
  return Object.fromEntries(own.map(({ path, message }) => [path.slice('decision'.length), message]));
}
