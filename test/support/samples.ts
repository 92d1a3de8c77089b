import type { AnyEndpoint } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { SAMPLES, type Sample } from './sample-bodies.ts';

export const nameOf = (e: AnyEndpoint) => `${e.method} ${e.path}`;

/** The fields of an endpoint's body; empty where it takes none. An endpoint without a sample fails the file. */
export function sampleOf(e: AnyEndpoint): Sample {
  const sample = SAMPLES[nameOf(e)];
  if (e.body && !sample) throw new Error(`test/support/sample-bodies.ts has no body for ${nameOf(e)}`);
  return sample ?? {};
}

export const bodyOf = (sample: Sample): Record<string, unknown> =>
  Object.fromEntries(Object.entries(sample).map(([name, { value }]) => [name, value]));

/** A valid body, or undefined where none is taken. */
export const sampleBody = (e: AnyEndpoint) => (e.body ? bodyOf(sampleOf(e)) : undefined);

const PLACES: Record<string, string> = { n: '1', kind: 'ticket', occurrence: '2026-01-02T03:04:05.678Z' };

/** The endpoint's path with these parameters. */
export const pathOf = (e: AnyEndpoint, params: Record<string, string> = {}) =>
  e.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? PLACES[name] ?? `some-${name}`);

export const withBody = endpoints.filter((e) => e.body !== undefined);
