import { exampleOf } from '../../api/document/examples.ts';
import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { addCase, court } from './cases.ts';
import { type Client, claimOne, type Json, type Reply } from './client.ts';
import { document, validatorOf } from './document.ts';
import { put } from './reviews.ts';
import { addTask, addTemplate } from './tasks.ts';
import { addMany, configure } from './tickets.ts';

const { paths, components } = document;

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

/** The fields of an endpoint's body, as the OpenAPI document has them; of several bodies those of the first. */
export function fieldsOf(e: AnyEndpoint): Field[] {
  const { schema } = paths[e.path][e.method].requestBody.content['application/json'];
  const place = (schema.$ref ?? schema.anyOf[0].$ref).slice(1);
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

/** One of each kind, with the names that paths and bodies have here; of tickets one that is held, and one that is over. */
export async function oneOfEach(client: Client): Promise<{ ownToken: string; othersToken: string }> {
  await configure(client, 'some-queue', { leaseSeconds: 3600, maxHeld: 5 });
  const tickets = ['held', 'other', 'some-id', 'over'].map((id) => ({ id, body: 1, priority: id === 'held' ? 9 : 0 }));
  await addMany(client, 'some-queue', tickets);
  const [own, others] = [await claimOne(client, 'some-queue', 'hans'), await claimOne(client, 'some-queue', 'olga')];
  await client.post('/v1/tickets/over/invalidate', { reason: 'over' });
  await put(client, 'some-id', { text: { status: 1 } });
  await court(client, 'some-court');
  await addCase(client, 'some-court', { id: 'some-id' });
  await addTemplate(client, 'plain');
  const startTime = '2026-01-02T03:04:05.678Z';
  await addTask(client, { id: 'some-id', executor: 'uid_ann', startTime, lookbackSeconds: 1e8 });
  await client.post('/v1/jobs', { command: 'add', topic: 'some-topic', id: 'some-id', body: 1 });
  return { ownToken: own.lease.token, othersToken: others.lease.token };
}
