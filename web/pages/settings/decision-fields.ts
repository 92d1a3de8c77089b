import { isObject, isSame } from '../../components/form/draft.ts';
import { textOf, valueIn } from './conditions.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What a field of a queue's form takes, as it is a JSON Schema: the members that make it one. */
const TYPES = {
  one: (options: unknown): Schema => optionsOf(options),
  several: (options: unknown) => ({ type: 'array', items: optionsOf(options) }),
  text: () => ({ type: 'string', maxLength: SHORT }),
  long: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  integer: () => ({ type: 'integer' }),
  flag: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date' }),
  moment: () => ({ type: 'string', format: 'date-time' }),
} as const;
type Type = keyof typeof TYPES | 'json';
export const hasOptions = (type: unknown): boolean => type === 'one' || type === 'several';
export const FIELD_TYPES: readonly Type[] = [...(Object.keys(TYPES) as Type[]), 'json'];

/** Members that have inputs of their own, whatever the type. */
const SAID = ['title', 'description', 'x-guideline', 'minimum', 'maximum', 'minItems', 'maxLength'];
/** As the desk has it: a text that may be longer gets several lines. */
const SHORT = 80;

interface FieldParts {
  name: string;
  type: Type;
  required: boolean;
  options?: unknown;
  schema?: unknown;
  /** Members that no input shows, while the type is the one it had. */
  kept: { type: Type; members: Schema };
}

/** A queue's form as a list of fields; null: it is not an object. A field that the inputs cannot say is JSON. */
export function fieldsIn(form: unknown): { form: unknown; fields: Schema[] } | null {
  if (form === null || form === undefined) return { form: null, fields: [] };
  const { properties = {}, required = [] } = form as { properties?: Schema; required?: string[] };
  if (!isObject(properties)) return null;
  const fields = Object.entries(properties).map(([name, schema]) => fieldIn(name, required.includes(name), schema));
  return { form, fields };
}

function fieldIn(name: string, isRequired: boolean, schema: unknown): Schema {
  const place = { name, required: isRequired };
  if (isObject(schema))
    for (const type of Object.keys(TYPES) as (keyof typeof TYPES)[]) {
      const options = optionsIn(type === 'several' ? schema.items : schema);
      if (hasOptions(type) && options.length === 0) continue;
      if (type === 'text' && !(Number(schema.maxLength) <= SHORT)) continue;
      const own = TYPES[type](options);
      const said = Object.fromEntries(SAID.filter((key) => key in schema).map((key) => [key, schema[key]]));
      const rest = Object.entries(schema).filter(([key]) => !(key in own) && !(key in said));
      const kept = { type, members: Object.fromEntries(rest) };
      const parts = { ...place, ...said, type, options, kept };
      const isPlain = !['$ref', 'enum', 'oneOf', 'anyOf', 'const', 'format'].some((key) => key in kept.members);
      if (isPlain && isSame(schemaOf(parts), schema)) return parts;
    }
  return { ...place, type: 'json', schema };
}

function schemaOf({ name: _, required: __, type, options, schema, kept, ...said }: FieldParts): unknown {
  if (type === 'json') return schema;
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return { ...(kept?.type === type && kept.members), ...TYPES[type](options), ...given };
}

/** `enum`, or alternatives where some say more than their value. */
function optionsOf(options: unknown): Schema {
  const all = ((options ?? []) as Schema[]).map((one) => ({ ...one, const: valueIn(one.const) }));
  const isPlain = all.every((one) => isSame(one, { const: one.const }));
  return isPlain ? { enum: all.map((one) => one.const) } : { oneOf: all };
}

function optionsIn(schema: unknown): Schema[] {
  const { enum: plain = [], oneOf = [] } = (schema ?? {}) as { enum?: unknown[]; oneOf?: Schema[] };
  return [...plain.map((value) => ({ const: value })), ...oneOf].map((one) => ({ ...one, const: textOf(one.const) }));
}

/** The form of such fields. What else stood in it stays. */
export function formIn({ form, fields }: { form?: unknown; fields?: unknown }): Schema | null {
  const all = (fields ?? []) as FieldParts[];
  const given = (form ?? { type: 'object' }) as Schema & { required?: string[] };
  if (all.length === 0) return keptIn(form).length > 0 ? { ...given, properties: {}, required: [] } : null;
  const names = all.filter((one) => one.required).map(({ name }) => name);
  // in the order that it had
  const required = [...new Set([...(given.required ?? []).filter((name) => names.includes(name)), ...names])];
  return { ...given, properties: Object.fromEntries(all.map((one) => [one.name, schemaOf(one)])), required };
}

/** Names of what no input shows. */
export const keptIn = (form: unknown): string[] =>
  Object.keys((form ?? {}) as Schema).filter((key) => !['type', 'properties', 'required'].includes(key));
