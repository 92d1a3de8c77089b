import { isObject, isSame } from '../../components/form/draft.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Those of a ticket that a rule may ask about, all of which every ticket has. */
export const FIELDS = ['id', 'body', 'subject', 'category', 'priority', 'requires', 'attempts', 'callback'];

/** What a rule asks of one field of a ticket. */
interface Condition {
  /** `body.author.country` */
  field: string;
  op: Op;
  /** As someone types it. */
  value?: string;
  /** Of `oneOf` and `noneOf`. */
  values?: string[];
}

/** How each operator is a JSON Schema, and which value such a schema has. */
const OPS = {
  is: [(value: unknown): unknown => ({ const: value }), (of: Schema): unknown => of.const],
  isNot: [(value: unknown) => ({ not: { const: value } }), ({ not }: Schema) => (not as Schema | undefined)?.const],
  oneOf: [(all: unknown) => ({ enum: all }), (of: Schema) => of.enum],
  noneOf: [(all: unknown) => ({ not: { enum: all } }), ({ not }: Schema) => (not as Schema | undefined)?.enum],
  atLeast: [(value: unknown) => ({ type: 'number', minimum: value }), (of: Schema) => of.minimum],
  atMost: [(value: unknown) => ({ type: 'number', maximum: value }), (of: Schema) => of.maximum],
  contains: [
    (value: unknown) => ({ type: 'string', pattern: String(value).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&') }),
    ({ pattern }: Schema) => (typeof pattern === 'string' ? pattern.replace(/\\(.)/g, '$1') : undefined),
  ],
  has: [
    (value: unknown) => ({ type: 'array', contains: { const: value } }),
    ({ contains }: Schema) => (contains as Schema | undefined)?.const,
  ],
  exists: [() => undefined, () => undefined],
  missing: [() => false, () => undefined],
} as const;
export type Op = keyof typeof OPS;
export const OPERATORS = Object.keys(OPS) as Op[];
export const takesList = (op: unknown): boolean => op === 'oneOf' || op === 'noneOf';
export const takesValue = (op: unknown): boolean => op !== 'exists' && op !== 'missing';

/** The fields of a body, as conditions name them. */
export function pathsIn(body: unknown, at = 'body'): string[] {
  if (!isObject(body)) return [at];
  return Object.entries(body).flatMap(([name, value]) => pathsIn(value, `${at}.${name}`));
}

/** A value as someone types it, JSON or a word; and what was typed as a value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' && valueIn(value) === value ? value : JSON.stringify(value);
}
export function valueIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
}

/** A rule's `when` as conditions that must all hold; what they cannot say is missing in them. */
export function conditionsIn(when: unknown): { when: unknown; conditions: Condition[] } | null {
  return when === undefined || isObject(when) ? { when, conditions: conditionsAt(when ?? {}, []) } : null;
}

function conditionsAt(schema: unknown, path: readonly string[]): Condition[] {
  const field = path.join('.');
  if (schema === false) return [{ field, op: 'missing' }];
  if (!isObject(schema)) return [];
  const {
    properties = {},
    required = [],
    allOf = [],
  } = schema as { properties?: Schema; required?: string[]; allOf?: [] };
  const own = path.length === 0 ? [] : [schema, ...allOf].flatMap((one) => conditionOf(one, field));
  const asked = required.filter((name) => !(name in properties) && !(field === '' && FIELDS.includes(name)));
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, one]) => conditionsAt(one, [...path, name])),
    ...asked.map((name) => ({ field: [...path, name].join('.'), op: 'exists' as const })),
  ];
}

function conditionOf(schema: Schema, field: string): Condition[] {
  for (const op of OPERATORS) {
    const [write, read] = OPS[op];
    const value = read(schema);
    if (value === undefined || !isSame(write(value), schema)) continue;
    return [
      { field, op, ...(takesList(op) ? { values: (value as unknown[]).map(textOf) } : { value: textOf(value) }) },
    ];
  }
  return [];
}

/** The JSON Schema of such conditions. At the top it keeps what it had: a ticket is an object that has all of its fields. */
export function whenOf({ when, conditions }: { when?: unknown; conditions?: unknown }): Schema {
  const said = (conditions as Condition[]).map(({ field, ...one }) => ({
    path: String(field ?? '').split('.'),
    ...one,
  }));
  const schema = schemaAt(said);
  if (!isObject(when)) return schema;
  const { type, required = [] } = when as { type?: unknown; required?: string[] };
  return { ...schema, type, ...(required.every((name) => FIELDS.includes(name)) && { required: when.required }) };
}

type Placed = Omit<Condition, 'field'> & { path: readonly string[] };

function schemaAt(conditions: readonly Placed[]): Schema {
  const names = new Set(conditions.map(({ path: [name = ''] }) => name));
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const name of names) {
    const all = conditions.filter(({ path }) => path[0] === name);
    const below = all.filter(({ path }) => path.length > 1).map((one) => ({ ...one, path: one.path.slice(1) }));
    const own = all.filter(({ path, op }) => path.length === 1 && op !== 'exists');
    const schemas = own.map(({ op, value, values = [] }) =>
      OPS[op][0](takesList(op) ? values.map(valueIn) : valueIn(value)),
    );
    if (all.some(({ op }) => op !== 'missing')) required.push(name);
    if (schemas.includes(false)) properties[name] = false;
    else if (below.length > 0) properties[name] = { ...schemaAt(below), ...(schemas.length > 0 && { allOf: schemas }) };
    else if (schemas.length > 0) properties[name] = schemas.length > 1 ? { allOf: schemas } : schemas[0];
  }
  return {
    ...(required.length > 0 && { type: 'object', required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}
