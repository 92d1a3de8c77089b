import type { ComponentChildren } from 'preact';
import type { Texts } from '../../texts/en.ts';
import { zones } from './moments.ts';

/** What is said about a field: its label, and what it does. */
export type Said = readonly [label: string, does: string];

interface Named {
  /** In the object that the form makes. */
  name: string;
  said: Said;
  /** It is asked for only while the other inputs of its object say so. */
  onlyIf?: (values: Record<string, unknown>) => boolean;
}

/** An object as it comes or goes. */
export type Given = Readonly<Record<string, unknown>>;

/** What an empty input means: the field is null, is left out, or has to be given. */
type Emptiness = 'null' | 'omit' | 'required';

export interface NumberField extends Named {
  kind: 'number';
  /** Seconds are also shown as minutes, hours and days. */
  unit?: 'seconds';
  /** What the API takes where nothing is given; null: none. */
  initial: number | null;
  /** The initial value is only a proposal: the API has no default. */
  proposed?: boolean;
  isInteger?: boolean;
  least?: number;
  most?: number;
  empty: Emptiness;
}

interface TextField extends Named {
  kind: 'text';
  empty: Emptiness;
  initial?: string;
  /** Values to choose from, beside what someone types. */
  suggestions?: readonly string[];
  /** Values to choose from and no others, by the inputs of the whole form; or none. */
  among?: (whole: Record<string, unknown>) => readonly string[];
  /** May have several lines. */
  isLong?: boolean;
  /** Its length in characters. */
  least?: number;
  most?: number;
  /** A regular expression. */
  pattern?: string;
}

/** A day, a moment, or any JSON. */
interface PlainField extends Named {
  kind: 'date' | 'moment' | 'json';
  empty: Emptiness;
}

interface LinesField extends Named {
  kind: 'lines';
  empty: Emptiness;
  initial?: readonly string[];
}

interface FlagField extends Named {
  kind: 'flag';
  initial: boolean;
  proposed?: boolean;
}

/** A value as the draft holds it, and its label. */
export type Option = readonly [value: string, label: string];

interface ChoiceField extends Named {
  kind: 'choice';
  options: readonly Option[];
  initial: string;
  proposed?: boolean;
}

/** One of several JSON values, which the options give as JSON text. Initially none is chosen. */
interface OneField extends Named {
  kind: 'one';
  options: readonly Option[];
  empty: Emptiness;
}

/** Any number of such values, `least` or more. */
interface SeveralField extends Named {
  kind: 'several';
  options: readonly Option[];
  least: number;
  empty: Emptiness;
}

/** A constant, which has no input. */
interface FixedField extends Named {
  kind: 'fixed';
  value: unknown;
}

/** The secret that signs callbacks. */
interface SecretField extends Named {
  kind: 'secret';
  empty?: Emptiness;
}

/** A parameter of a template: left out where it is empty, and as it was typed where it is not of its type. */
interface ParamField extends Named {
  kind: 'param';
  type: 'string' | 'number' | 'boolean' | 'object' | 'array';
}

/** An object that is always there. */
interface ObjectField extends Named {
  kind: 'object';
  fields: readonly FieldSpec[];
  /** The object is left out while all its inputs are empty. */
  empty?: 'omit';
}

/** An object or null. */
interface OptionalField extends Named {
  kind: 'optional';
  fields: readonly FieldSpec[];
}

/** A list of objects. */
interface RowsField extends Named {
  kind: 'rows';
  fields: readonly FieldSpec[];
  row: (n: number) => string;
  add: string;
  /** Each is one line. */
  isTight?: boolean;
  /** A field in which no two of them are the same. */
  unique?: string;
  /** Names of what stands in one beside its inputs, and stays there. */
  kept?: (row: Given) => string[];
}

/** JSON that inputs write for those who need not know it. It may also be written as it is, and has to be where they cannot say it. */
export interface BuiltField extends Named {
  kind: 'built';
  fields: readonly FieldSpec[];
  /** The object of the inputs that say a value; null: they cannot. It may come back without something of it. */
  partsOf: (value: unknown) => Given | null;
  valueOf: (parts: Given) => unknown;
  /** As in `RowsField`, of the whole value. */
  kept?: (parts: Given) => string[];
  empty: Emptiness;
  /** Stands beside. */
  preview?: (value: unknown) => ComponentChildren;
}

/** Null, or an object with one of these fields. */
interface VariantsField extends Named {
  kind: 'variants';
  none: string;
  variants: readonly FieldSpec[];
}

export type LeafSpec =
  | NumberField
  | TextField
  | PlainField
  | LinesField
  | FlagField
  | ChoiceField
  | OneField
  | SeveralField
  | SecretField
  | ParamField;
export type GroupSpec = ObjectField | OptionalField | RowsField | VariantsField | BuiltField;
export type FieldSpec = LeafSpec | GroupSpec | FixedField;

/** A titled part of a form. */
export interface Part {
  title: string;
  fields: readonly FieldSpec[];
}

/** A duration in seconds. Without an initial value it may be left empty. */
export const seconds = (name: string, said: Said, initial: number | null): NumberField => ({
  ...{ kind: 'number', name, said, initial, unit: 'seconds' },
  empty: initial === null ? 'null' : 'required',
});

/** A number. Without an initial value it may be left empty. */
export const count = (name: string, said: Said, initial: number | null): NumberField => ({
  ...{ kind: 'number', name, said, initial },
  empty: initial === null ? 'null' : 'required',
});

/** A choice among words, by their values. */
export const choice = (
  name: string,
  said: Said,
  words: Readonly<Record<string, string>> | readonly Option[],
  initial: string,
): ChoiceField => ({
  ...{ kind: 'choice', name, said, initial },
  options: Array.isArray(words) ? words : Object.entries(words),
});

/** Some of these words, in this order. */
export const picked = (values: readonly string[], words: Readonly<Record<string, string>>): Option[] =>
  values.map((value) => [value, words[value] ?? value]);

/** A field that has to be given; its initial value is a proposal. */
export const proposed = (field: NumberField): NumberField => ({ ...field, proposed: true, empty: 'required' });

/** A time zone: that of the setting, else UTC. */
export const zone = (said: Said): FieldSpec => ({
  ...{ kind: 'text', name: 'timezone', said, empty: 'omit', initial: 'UTC', suggestions: zones() },
});

/** What `savedAs` asks for. */
export type SavedAs = { name: string; shared?: boolean };

/** The name under which something is saved, and whether it is shared; left out: the caller may not share. */
export const savedAs = ({ name, replaces }: Texts['common'], shared?: Said): FieldSpec[] => [
  { kind: 'text', name: 'name', said: [name, replaces], empty: 'required', most: 200 },
  ...(shared ? [{ kind: 'flag', name: 'shared', said: shared, initial: false } as const] : []),
];
