import type { Operation } from './operation.ts';

/** An object of the document: a schema, or a container of schemas. */
type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Adapts each schema to its direction, because Zod has one schema for requests and answers: a field with a default is
 * optional in a request, and always present in an answer.
 * @throws Error for a named schema with defaults that is both sent and answered
 */
export function settleSchemas(document: { components?: { schemas?: object }; paths?: object }): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, unknown>;
  const operations: Operation[] = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path as object));
  const sent = operations.map((operation) => operation.requestBody);
  const answered = operations.map((operation) => operation.responses);
  const [sentNames, answeredNames] = [namesIn(sent, schemas), namesIn(answered, schemas)];
  for (const name of sentNames)
    if (answeredNames.has(name) && hasDefaults(schemas[name]))
      throw new Error(`the schema ${name} has defaults, and is both sent and answered: answers need one of their own`);
  for (const one of [...sent, ...[...sentNames].map((name) => schemas[name])]) eachObject(one, asSent);
  for (const one of [...answered, ...[...answeredNames].map((name) => schemas[name])]) eachObject(one, asAnswered);
}

/** Moves defaults into descriptions: from the keyword `default`, generators make fields that are required or always sent. */
function asSent(_schema: Node, properties: Node): void {
  for (const property of Object.values(properties)) {
    if (!isNode(property) || !('default' in property)) continue;
    const { description, default: value } = property;
    delete property.default;
    property.description = [description, `Default: \`${JSON.stringify(value)}\``].filter(Boolean).join('. ');
  }
}

/** All fields are present; later versions may add more. */
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

/** Visits each schema of an object with fields, at any depth. Does not follow references. */
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

/** The named schemas to which a part of the document refers, also indirectly. */
function namesIn(part: unknown, schemas: Record<string, unknown>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    namesIn(schemas[name], schemas, found);
  }
  return found;
}
