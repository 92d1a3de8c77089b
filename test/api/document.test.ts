import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { PROBLEMS } from '../../contract/problems.ts';
import type { Json } from '../support/client.ts';
import { document, pointer, validatorOf } from '../support/document.ts';

// What makes the document fit for those who generate clients of it, and for those who read it. That it is what the code says
// is a check of `npm run check`; that it is what the server does, the tests of the story and of the fuzzer.

const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
);
const each = operations.map((one) => [one.operation.operationId as string, one] as const);

/** A node of the document, and where it really is. */
function followed(node: Json, at: string): { node: Json; at: string } {
  if (node?.$ref === undefined) return { node, at };
  const [, ...names] = (node.$ref as string).split('/');
  return { node: names.reduce((inner, name) => inner[name], document), at: pointer(...names) };
}

function expectFits(at: string, value: unknown, what: string): void {
  const validate = validatorOf(at);
  const said = () => `${what}: ${JSON.stringify([validate.errors, value]).slice(0, 500)}`;
  if (!validate(value)) expect.fail(said());
}

/** Each example of a content, by what it is of. */
function* examplesOf({ content = {} }: Json, at: string): Generator<{ at: string; value: unknown; type: string }> {
  for (const [type, media] of Object.entries(content as Record<string, Json>)) {
    const here = `${at}${pointer('content', type, 'schema')}`;
    if ('example' in media) yield { at: here, value: media.example, type };
    for (const { value } of Object.values((media.examples ?? {}) as Record<string, Json>))
      yield { at: here, value, type };
  }
}

/** All schemas, whatever they are a part of. */
function* schemasIn(node: unknown, at = ''): Generator<{ schema: Json; at: string }> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield { schema: node, at };
  for (const [name, child] of Object.entries(node))
    if (name !== 'example' && name !== 'examples') yield* schemasIn(child, `${at}${pointer(name)}`);
}

const schemas = [...schemasIn(document.components.schemas), ...schemasIn(document.paths)];

describe('operations', () => {
  test('each has a name of its own: a verb, and a noun', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names.sort()).toEqual(endpoints.map((e) => e.operation).sort());
    const verbs =
      'add|bury|cast|claim|complete|decide|decline|delete|dispute|explain|find|get|invalidate|list|open|pause|pull|put';
    const others = 'read|redeliver|release|renew|resolve|resume|revoke|run|suggest|transfer|update';
    const pattern = new RegExp(`^((${verbs}|${others})([A-Z][a-z]+)+|sign(In|Out))$`);
    for (const name of names) expect(name).toMatch(pattern);
  });

  test.each(each)('%s names all that it can answer', (_name, { path, method, operation }) => {
    const statuses = Object.keys(operation.responses);
    const always = ['403', '405', '429', '503'];
    const ofBody = operation.requestBody ? ['400', '413', '415'] : [];
    const ofKey = operation.security.length > 0 ? ['401'] : [];
    // a command that is understood and wrong is 200
    const ofValues = path === '/v1/jobs' ? [] : ['422'];
    for (const status of [...always, ...ofBody, ...ofKey, ...ofValues]) expect(statuses).toContain(status);
    const e = endpoints.find((one) => one.path === path && one.method === method);
    for (const code of e?.problems ?? []) {
      const { node } = followed(operation.responses[PROBLEMS[code].status], '');
      expect(node.description, `${PROBLEMS[code].status}`).toContain(`\`${code}\``);
    }
  });
});

describe('examples', () => {
  test.each(each)('%s has what it is called with, and it fits', (_name, { path, method, operation }) => {
    const here = pointer('paths', path, method);
    for (const [n, parameter] of (operation.parameters ?? []).entries()) {
      if (parameter.required) expect(parameter, parameter.name).toHaveProperty('example');
      if ('example' in parameter)
        expectFits(`${here}${pointer('parameters', n, 'schema')}`, parameter.example, parameter.name);
    }
    if (!operation.requestBody) return;
    const bodies = [...examplesOf(operation.requestBody, `${here}/requestBody`)];
    expect(bodies.length).toBeGreaterThan(0);
    for (const { at, value } of bodies) expectFits(at, value, 'body');
  });

  test.each(each)('%s has what it answers, and it fits', (_name, { path, method, operation }) => {
    const here = pointer('paths', path, method, 'responses');
    for (const [status, response] of Object.entries(operation.responses as Record<string, Json>)) {
      const { node, at } = followed(response, `${here}${pointer(status)}`);
      const found = [...examplesOf(node, at)];
      if (status === '204') expect(node.content).toBeUndefined();
      else expect(found.length, `${status} ${path}`).toBeGreaterThan(0);
      for (const one of found) {
        expectFits(one.at, one.value, status);
        if (one.type === 'application/problem+json')
          expect(one.value).toMatchObject({ status: Number(status), type: `/docs/errors#${(one.value as Json).code}` });
      }
    }
  });

  test('none is of a schema that several operations share: what it is called there is another thing here', () => {
    const found = schemas.filter(
      ({ schema, at }) => 'example' in schema && !/\/(parameters\/\d+|content\/[^/]+)$/.test(at),
    );
    expect(found.map(({ at }) => at)).toEqual([]);
  });
});

describe('schemas', () => {
  const wherever = (is: (schema: Json) => boolean) => schemas.filter(({ schema }) => is(schema)).map(({ at }) => at);

  test('free JSON is the schema that allows everything', () => {
    expect(wherever(({ type }) => Array.isArray(type) && type.length > 2)).toEqual([]);
    const { Ticket, NewTicket, Decide, JobAdd, Task, NewCase } = document.components.schemas;
    const free = [Ticket.properties.body, Ticket.properties.decision, NewTicket.properties.body];
    free.push(Decide.properties.decision, JobAdd.properties.body, NewCase.properties.body);
    for (const schema of free) expect(schema).toEqual({});
    expect(Task.properties.params).toEqual({ type: 'object', additionalProperties: {} });
  });

  test('none is made of several, and each alternative is a whole schema', () => {
    expect(wherever((schema) => 'allOf' in schema)).toEqual([]);
    const isWhole = (schema: Json) => '$ref' in schema || 'type' in schema || 'anyOf' in schema;
    const isHalf = ({ anyOf = [], oneOf = [] }: Json) => Array.isArray(anyOf) && ![...anyOf, ...oneOf].every(isWhole);
    expect(wherever(isHalf)).toEqual([]);
  });

  test('a pattern is an expression alone, without flags', () => {
    expect(wherever(({ pattern }) => typeof pattern === 'string' && /\/[a-z]+$/.test(pattern))).toEqual([]);
  });

  test('an object says what is in it', () => {
    const says = (schema: Json) => 'properties' in schema || 'additionalProperties' in schema;
    expect(wherever((schema) => [schema.type].flat().includes('object') && !says(schema))).toEqual([]);
  });

  test('what has a default may be left out by those who send it, and is there for those who read it', () => {
    const { NewTicket, Claim, PutQueue, Queue, Court, Push, Topic } = document.components.schemas;
    expect(NewTicket.required).toEqual(['body']);
    expect(NewTicket.properties.priority.description).toBe('Default: `0`');
    expect(Claim.required).toBeUndefined();
    expect(PutQueue.required).toBeUndefined();
    expect(Push.required).toEqual(['url', 'secret']);
    // only a PUT may warn
    const { warnings: _, ...ofQueue } = Queue.properties;
    expect(Queue.required).toEqual(Object.keys(ofQueue));
    for (const schema of [Court, Topic]) expect(schema.required).toEqual(Object.keys(schema.properties));
    expect(Court.properties.assign.required).toEqual(['jurors', 'answerSeconds', 'perJurorPerDay', 'perJuror']);
    const ofParameters = /\/parameters\/\d+\/schema$/;
    expect(wherever((schema) => 'default' in schema).filter((at) => !ofParameters.test(at))).toEqual([]);
  });
});
