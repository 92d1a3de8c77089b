/** An object of the document: a schema, or what holds schemas. */
type Node = Record<string, unknown>;

interface Document {
  components?: { schemas?: object };
  paths?: object;
}

interface Operation {
  requestBody?: object;
  responses?: object;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Says of each schema what holds for those who send it or for those who read it. Zod has one schema for both; a field with
 * a default may be left out by who sends it, and is always there for who reads it.
 * @throws Error for a named schema with defaults that is both sent and answered
 */
export function settleSchemas(document: Document): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, unknown>;
  const operations = Object.values(document.paths ?? {}).flatMap(
    (path) => Object.values(path as object) as Operation[],
  );
  const sent = operations.map((operation) => operation.requestBody);
  const answered = operations.map((operation) => operation.responses);
  const [sentNames, answeredNames] = [namesIn(sent, schemas), namesIn(answered, schemas)];
  for (const name of sentNames)
    if (answeredNames.has(name) && hasDefaults(schemas[name]))
      throw new Error(`the schema ${name} has defaults, and is both sent and answered: answers need one of their own`);
  for (const one of [...sent, ...[...sentNames].map((name) => schemas[name])]) eachObject(one, asSent);
  for (const one of [...answered, ...[...answeredNames].map((name) => schemas[name])]) eachObject(one, asAnswered);
}

/**
 * Defaults stand in descriptions: of the keyword `default`, generators make fields that must be sent, or that are sent
 * though no one set them.
 */
function asSent(_schema: Node, properties: Node): void {
  for (const property of Object.values(properties)) {
    if (!isNode(property) || !('default' in property)) continue;
    const { description, default: value } = property;
    delete property.default;
    property.description = [description, `Default: \`${JSON.stringify(value)}\``].filter(Boolean).join('. ');
  }
}

/** All fields are there, and more may follow in later versions. */
function asAnswered(schema: Node, properties: Node): void {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  for (const [name, property] of Object.entries(properties)) {
    if (!isNode(property) || !('default' in property)) continue;
    delete property.default;
    required.add(name);
  }
  if (required.size > 0) schema.required = Object.keys(properties).filter((name) => required.has(name));
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}

/** Visits each schema of an object with fields, at whatever depth, and never what a reference leads to. */
function eachObject(node: unknown, visit: (schema: Node, properties: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) eachObject(one, visit);
  if (!isNode(node)) return;
  if (isNode(node.properties)) visit(node, node.properties);
  for (const child of Object.values(node)) eachObject(child, visit);
}

function hasDefaults(schema: unknown): boolean {
  let found = false;
  eachObject(schema, (_schema, properties) => {
    found ||= Object.values(properties).some((property) => isNode(property) && 'default' in property);
  });
  return found;
}

/** The named schemas that a part of the document leads to. */
function namesIn(part: unknown, schemas: Record<string, unknown>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    namesIn(schemas[name], schemas, found);
  }
  return found;
}
