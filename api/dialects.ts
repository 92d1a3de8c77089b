import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import type { Gone } from '../runtime/waiting.ts';
import { Problem } from '../services/shared/problems.ts';
import type { Api } from './api.ts';
import { readBytes } from './body.ts';
import { type ApiBindings, type ApiContext, Departure } from './endpoint.ts';
import { framing, type Guard, type Outcome } from './frame.ts';
import { PathRouter } from './router.ts';

/** A call of another product's HTTP API. */
export interface DialectCall {
  api: Api;
  param(name: string): string;
  /** A parameter of the URL's query; undefined: it was left out. */
  query(name: string): string | undefined;
  /** The body as it was sent. @throws Problem `payload_too_large` above so many bytes */
  body(limit: number): Promise<Buffer>;
  incoming: IncomingMessage;
  /** Fires when the caller has gone. */
  signal: Gone;
}

export interface DialectRoute {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** With `:name` for parameters. */
  path: string;
  work(call: DialectCall): Promise<Outcome>;
}

/** Another product's HTTP API, in front of the same services, on a port of its own. */
export interface Dialect {
  /** In the log and in metrics. */
  name: string;
  guard: Guard;
  routes: DialectRoute[];
  /** How it says that something went wrong. */
  problemAnswer(problem: Problem): { status: number; body: object };
  /** What it says to a path that it does not have. */
  unknownPath: string;
}

/** The application of a dialect, in the same frame as the API's own calls. */
export async function createDialect(
  api: Api,
  { name, guard, routes, problemAnswer, unknownPath }: Dialect,
): Promise<Hono<{ Bindings: ApiBindings }>> {
  const framed = await framing(api, guard);
  const app = new Hono<{ Bindings: ApiBindings }>({ router: new PathRouter() });
  const unknown = () => {
    throw new Problem('not_found', unknownPath);
  };
  for (const { method, path, work } of routes) {
    // Hono takes HEAD for GET, and a GET of these APIs may reserve a job
    const answer = (c: ApiContext) => (c.req.method === 'HEAD' ? unknown() : work(callOf(api, c)));
    app.on(method, path, framed({ path: `${name} ${path}`, problemAnswer, work: answer }));
  }
  app.notFound(framed({ path: `${name} *`, problemAnswer, work: unknown }));
  return app;
}

/** What is looked for; undefined where there is none. */
export const orNone = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined;
    throw error;
  });

const callOf = (api: Api, c: ApiContext): DialectCall => ({
  api,
  param: (name) => c.req.param(name) ?? '',
  query: (name) => c.req.query(name),
  body: (limit) => readBytes(c.env.incoming, limit),
  incoming: c.env.incoming,
  signal: new Departure(c),
});
