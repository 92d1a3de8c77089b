import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { Problem } from '../services/shared/service.ts';
import type { Api } from './api.ts';
import { pages } from './docs.ts';
import { openApi } from './document/openapi.ts';
import { type AnyEndpoint, type ApiBindings, type ApiContext, perform } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { framing, guardOf, type Route } from './frame.ts';
import { mcpTransport } from './mcp/transport.ts';
import { PathRouter } from './router.ts';
import { signInPages } from './sessions/sessions.ts';

const MCP = '/mcp';

/**
 * The HTTP API: endpoints, MCP, pages of the documentation, the console; 404 and 405 for all other calls.
 * @param basePath its path inside a larger app
 */
export async function createApp(api: Api, basePath = ''): Promise<Hono<{ Bindings: ApiBindings }>> {
  const framed = await framing(api, guardOf(api));
  const within = { getPath: (request: Request) => getPath(request).slice(basePath.length) || '/' };
  const app = new Hono<{ Bindings: ApiBindings }>({ router: new PathRouter(), ...(basePath && within) });
  const shown = (c: ApiContext) => {
    const answer = api.console.answer(c);
    if (!answer) throw new Problem('not_found', `there is no ${c.req.path}`);
    return answer;
  };
  const add = (method: string, route: Route) => app.on(method, route.path, framed(route));
  for (const e of endpoints) {
    const { problemAnswer } = e;
    const work: Route['work'] = (c, headers) => perform(api, e, c, headers);
    add(e.method.toUpperCase(), { path: pathOf(e), probe: e.probe, work, problemAnswer });
  }
  let document: string | undefined;
  const described = (c: ApiContext) => {
    document ??= JSON.stringify(openApi(endpoints));
    api.transfers.holdText(c.env, document);
    return c.body(document, 200, { 'content-type': 'application/json' });
  };
  const others = { '/': shown, ...pages(), ...signInPages(api), '/openapi.json': described };
  for (const [path, page] of Object.entries(others)) add('GET', { path, work: page });
  add('POST', { path: MCP, work: mcpTransport(api, endpoints) });
  for (const [path, methods] of methodsOf(endpoints, Object.keys(others)).set(MCP, ['POST']))
    add('ALL', {
      path,
      work(c, headers) {
        headers.allow = methods.join(', ');
        throw new Problem('method_not_allowed', `${c.req.path} knows ${headers.allow}`);
      },
    });
  const unknown = framed({ path: '/*', work: shown });
  app.notFound(unknown);
  return app;
}

const pathOf = (e: AnyEndpoint) => e.path.replaceAll(/\{(\w+)\}/g, ':$1');

/** The methods of each path, which a 405 names in `allow`. */
function methodsOf(all: AnyEndpoint[], gets: string[]): Map<string, string[]> {
  const methods = new Map(gets.map((path) => [path, ['GET']]));
  for (const e of all) methods.set(pathOf(e), [...(methods.get(pathOf(e)) ?? []), e.method.toUpperCase()]);
  return methods;
}
