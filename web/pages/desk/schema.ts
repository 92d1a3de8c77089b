import { isObject } from '../../components/form/draft.ts';
import type { FieldSpec, Given, Option } from '../../components/form/spec.ts';
import { KEYS } from '../../components/tones.ts';
import type { Texts } from '../../texts/en.ts';

/** The fields of a decision, and the decision that their values make. */
export interface DecisionForm {
  fields: readonly FieldSpec[];
  decisionIn: (values: Given) => unknown;
  /** The decision is what its only field says. */
  isOne: boolean;
}

/** A decision that is one field. */
export const single = (field: FieldSpec): DecisionForm => ({
  fields: [field],
  decisionIn: (values) => values[field.name],
  isOne: true,
});

type Schema = Record<string, unknown>;

const DEEPEST = 4;
/** Longer texts get several lines. */
const SHORT = 80;

/**
 * Translates a queue's form, a JSON Schema, into fields. A part that no kind of field fits is entered as JSON. The API checks
 * every decision again.
 */
export function formOf(schema: object, texts: Texts): DecisionForm {
  const whole = fieldOf(schema, { name: '', required: true }, { root: schema, depth: 0, texts });
  if (whole.kind !== 'object') return single(whole);
  return { fields: whole.fields, decisionIn: (values) => values, isOne: false };
}

export type Verdict = Extract<FieldSpec, { kind: 'one' }>;

/** The field whose options decide by one key: the first required one, else the first. */
export function verdictOf(fields: readonly FieldSpec[]): Verdict | undefined {
  const able = fields.filter((field) => field.kind === 'one').filter(({ options }) => options.length <= KEYS);
  return able.find(({ empty }) => empty === 'required') ?? able[0];
}

interface Context {
  root: object;
  depth: number;
  texts: Texts;
}

type Place = Pick<FieldSpec, 'name'> & { required: boolean };

function fieldOf(given: unknown, { name, required }: Place, context: Context): FieldSpec {
  const { common, desk, items } = context.texts;
  const t = desk.decision;
  const schema = resolved(given, context.root);
  const type = typeOf(schema);
  const yesOrNo = type === 'boolean' ? Object.entries({ true: common.yes, false: common.no }) : null;
  const options = optionsOf(schema) ?? yesOrNo;
  const label = text(schema.title) || name || (options ? t.choose : items.decision);
  const said = (...hints: string[]) =>
    [
      required ? label : `${label} (${t.optional})`,
      [text(schema.description), ...hints].filter(Boolean).join(' · '),
    ] as const;
  const place = { name, said: said(), empty: required ? 'required' : 'omit' } as const;
  if ('const' in schema) return { ...place, kind: 'fixed', value: schema.const };
  if (options) return { ...place, kind: 'one', options };
  switch (type) {
    case 'string': {
      if (schema.format === 'date') return { ...place, kind: 'date' };
      if (schema.format === 'date-time') return { ...place, kind: 'moment' };
      const most = count(schema.maxLength);
      const isLong = (most ?? Number.POSITIVE_INFINITY) > SHORT;
      return {
        ...place,
        kind: 'text',
        isLong,
        least: count(schema.minLength),
        most,
        pattern: text(schema.pattern) || undefined,
      };
    }
    case 'integer':
    case 'number': {
      const [least, most] = [count(schema.minimum), count(schema.maximum)];
      const range = { isInteger: type === 'integer', least, most };
      return { ...place, kind: 'number', said: said(t.range(least, most)), initial: null, ...range };
    }
    case 'array': {
      const items = optionsOf(resolved(schema.items, context.root));
      if (items) return { ...place, kind: 'several', options: items, least: count(schema.minItems) ?? 0 };
      break;
    }
    case 'object': {
      const fields = fieldsIn(schema, context);
      if (fields) return { name, said: said(), kind: 'object', fields, ...(!required && { empty: 'omit' }) };
    }
  }
  return { ...place, kind: 'json', said: said(t.json) };
}

/** The fields of an object; null where it has none, or is nested too deep. */
function fieldsIn({ properties, required }: Schema, context: Context): FieldSpec[] | null {
  const given = isObject(properties) ? Object.entries(properties) : [];
  if (given.length === 0 || context.depth >= DEEPEST) return null;
  const names: unknown[] = Array.isArray(required) ? required : [];
  const inner = { ...context, depth: context.depth + 1 };
  return (
    given
      .map(([name, schema]) => fieldOf(schema, { name, required: names.includes(name) }, inner))
      // an optional constant is left out
      .filter((field) => field.kind !== 'fixed' || names.includes(field.name))
  );
}

/** `enum`, or alternatives that are each one value with a title. */
function optionsOf(schema: Schema): Option[] | null {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum.map((value) => optionOf(value));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return null;
  if (!alternatives.every((one) => isObject(one) && 'const' in one)) return null;
  return alternatives.map((one: Schema) => optionOf(one.const, text(one.title)));
}

/** The only type beside null: a field that is left empty is left out. */
function typeOf({ type }: Schema): unknown {
  const types = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  return types.length === 1 ? types[0] : undefined;
}

/** What a reference inside the form leads to; references elsewhere have no field of their own. */
function resolved(schema: unknown, root: object): Schema {
  let found: unknown = schema;
  for (let n = 0; n < 10 && isObject(found) && typeof found.$ref === 'string'; n++) {
    if (!found.$ref.startsWith('#/')) return {};
    const steps = found.$ref.slice(2).split('/');
    found = steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root);
  }
  return isObject(found) ? found : {};
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const count = (value: unknown) => (typeof value === 'number' ? value : undefined);

const optionOf = (value: unknown, title = ''): Option => {
  const json = JSON.stringify(value);
  return [json, title || (typeof value === 'string' ? value : json)];
};

/** A decision in the words of its form: the labels of what was chosen, other values behind the names of their fields. */
export function wordsOf({ fields, isOne }: DecisionForm, decision: unknown): string {
  const [whole] = fields;
  const found = isOne && whole ? partsOf(whole, decision) : inside(fields, decision);
  return found.join(' · ') || plainly(decision);
}

/** A value without a form. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What the form does not know, by the names of its members. */
function plainly(decision: unknown): string {
  if (typeof decision !== 'object' || decision === null || Array.isArray(decision)) return textOf(decision);
  const members = Object.entries(decision).map(([name, value]) => `${name}: ${textOf(value)}`);
  return members.join(' · ') || '{}';
}

function inside(fields: readonly FieldSpec[], value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return fields.flatMap((field) => partsOf(field, (value as Record<string, unknown>)[field.name]));
}

function partsOf(field: FieldSpec, value: unknown): string[] {
  if (value === undefined || value === null || field.kind === 'fixed') return [];
  const labelOf = (one: unknown) =>
    'options' in field ? field.options.find(([known]) => known === JSON.stringify(one))?.[1] : undefined;
  if (field.kind === 'one') return [labelOf(value) ?? JSON.stringify(value)];
  if (field.kind === 'several' && Array.isArray(value)) return value.map((one) => labelOf(one) ?? JSON.stringify(one));
  if (field.kind === 'object') return inside(field.fields, value);
  return [`${field.name}: ${textOf(value)}`];
}
