import { readFileSync } from 'node:fs';
import { exampleOf } from '../../api/document/examples.ts';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import type { Client, Json, Reply } from './client.ts';
import { validatorOf } from './document.ts';

const { paths, components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

export const nameOf = (e: AnyEndpoint) => `${e.method} ${e.path}`;

const PLACES: Record<string, string> = { n: '1', kind: 'ticket', occurrence: '2026-01-02T03:04:05.678Z' };

/** The endpoint's path with these parameters. */
export const pathOf = (e: AnyEndpoint, params: Record<string, string> = {}) =>
  e.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? PLACES[name] ?? `some-${name}`);

export const withBody = endpoints.filter((e) => e.body !== undefined);

/** A valid body: the first example of the document; undefined where none is taken. */
export function sampleBody(e: AnyEndpoint): Record<string, unknown> | undefined {
  if (!e.body) return undefined;
  const { body, bodies = {} } = exampleOf(e.operation);
  const shown = body ?? Object.values(bodies)[0]?.value;
  if (!shown) throw new Error(`the OpenAPI document has no example of a body for ${nameOf(e)}`);
  return shown as Record<string, unknown>;
}

export interface Field {
  name: string;
  required: boolean;
  /** Of JSON Schema; empty: any JSON is taken. */
  types: string[];
  /** Whether the document allows a value. */
  allows(value: unknown): boolean;
}

/** The fields of an endpoint's body, as the OpenAPI document has them. */
export function fieldsOf(e: AnyEndpoint): Field[] {
  const place = paths[e.path][e.method].requestBody.content['application/json'].schema.$ref.slice(1);
  const { properties, required = [] } = components.schemas[place.split('/').at(-1)];
  return Object.entries(properties as Record<string, Json>).map(([name, schema]) => ({
    name,
    required: required.includes(name),
    types: [schema.type ?? (schema.anyOf || schema.$ref ? 'object' : [])].flat(),
    allows: (value) => validatorOf(`${place}/properties/${name}`)(value) as boolean,
  }));
}

type Body = string | Uint8Array | ReadableStream | null;

/** Calls an endpoint with a body as it is, which is said to be JSON. */
export const callWith = (
  client: Client,
  e: AnyEndpoint,
  body: Body,
  { params = {}, headers = {} }: { params?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<Reply> =>
  client.raw(e.method.toUpperCase(), pathOf(e, params), {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== null && { body, duplex: 'half' }),
  } as RequestInit);
