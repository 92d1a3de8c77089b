// The queue's form, a JSON Schema, as fields that someone can fill in. What has no field of its own is written as JSON; the
// API, which checks every decision, has the last word.

interface Common {
  /** Where its value stands in the decision: a JSON Pointer, '' for the whole. */
  path: string;
  /** Its name in the object that it is in; '' for the whole. */
  name: string;
  label: string;
  hint: string;
  required: boolean;
}

export interface Choice {
  value: unknown;
  label: string;
}

export type Field = Common &
  (
    | { kind: 'choice'; options: Choice[] }
    | { kind: 'choices'; options: Choice[]; least: number }
    | { kind: 'text'; least: number; most: number | undefined; pattern: string | undefined }
    | { kind: 'number'; isInteger: boolean; least: number | undefined; most: number | undefined }
    | { kind: 'fixed'; value: unknown }
    | { kind: 'group'; fields: Field[] }
    | { kind: 'json' }
  );

type Schema = Record<string, unknown>;

const DEEPEST = 4;

/** The whole form as one field: mostly a group. */
export const formOf = (schema: object): Field =>
  fieldOf(schema, { path: '', name: '', required: true }, { root: schema, depth: 0 });

interface Around {
  root: object;
  depth: number;
}

function fieldOf(given: unknown, place: Pick<Common, 'path' | 'name' | 'required'>, around: Around): Field {
  const schema = resolved(given, around.root);
  const common = { ...place, label: text(schema.title) || place.name, hint: text(schema.description) };
  const options = optionsOf(schema);
  if ('const' in schema) return { ...common, kind: 'fixed', value: schema.const };
  if (options) return { ...common, kind: 'choice', options };
  switch (typeOf(schema)) {
    case 'boolean':
      return { ...common, kind: 'choice', options: [true, false].map((value) => ({ value, label: '' })) };
    case 'string':
      return {
        ...common,
        kind: 'text',
        least: count(schema.minLength) ?? 0,
        most: count(schema.maxLength),
        pattern: typeof schema.pattern === 'string' ? schema.pattern : undefined,
      };
    case 'integer':
    case 'number':
      return { ...common, kind: 'number', isInteger: typeOf(schema) === 'integer', ...rangeOf(schema) };
    case 'array': {
      const items = optionsOf(resolved(schema.items, around.root));
      if (!items) return { ...common, kind: 'json' };
      return { ...common, kind: 'choices', options: items, least: count(schema.minItems) ?? 0 };
    }
    case 'object':
      return groupOf(schema, common, around);
    default:
      return { ...common, kind: 'json' };
  }
}

function groupOf(schema: Schema, common: Common, { root, depth }: Around): Field {
  const { properties } = schema;
  if (!isObject(properties) || Object.keys(properties).length === 0 || depth >= DEEPEST)
    return { ...common, kind: 'json' };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(properties).map(([name, inner]) => {
    const path = `${common.path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return fieldOf(inner, { path, name, required: required.includes(name) }, { root, depth: depth + 1 });
  });
  return { ...common, kind: 'group', fields };
}

/** `enum`, or alternatives that are each one value with a title. */
function optionsOf(schema: Schema): Choice[] | null {
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return schema.enum.map((value) => ({ value, label: labelOf(value) }));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return null;
  if (!alternatives.every((one) => isObject(one) && 'const' in one)) return null;
  return alternatives.map((one: Schema) => ({ value: one.const, label: text(one.title) || labelOf(one.const) }));
}

/** The only type beside null: a field that is left empty is left out. */
function typeOf({ type }: Schema): unknown {
  const types = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  return types.length === 1 ? types[0] : undefined;
}

function rangeOf({ minimum, maximum }: Schema) {
  const limit = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return { least: limit(minimum), most: limit(maximum) };
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

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const count = (value: unknown) => (typeof value === 'number' ? value : undefined);

const labelOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
