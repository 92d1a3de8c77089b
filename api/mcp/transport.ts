import type { z } from '@hono/zod-openapi';
import {
  type CallToolRequestParams,
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { SMALL_BODY } from '../../contract/common.ts';
import { VERSION } from '../../runtime/version.ts';
import { invalid } from '../../services/shared/problems.ts';
import type { Api } from '../api.ts';
import { readJson } from '../body.ts';
import { type AnyEndpoint, type ApiContext, identify, performAs } from '../endpoint.ts';
import { reported } from '../frame.ts';
import { EXTENSIONS, hasTasks, type Perform, serveTasks, taskOf } from './tasks.ts';
import { problemText, resultOf, shownTool, type TicketView, TOOLS } from './tools.ts';

const INFO = { name: 'docket', title: 'Docket', version: VERSION };
const OPTIONS = {
  supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS.filter((revision) => revision >= '2025-06-18'),
  instructions:
    'Docket hands out tickets to reviewers; each is decided once. To have something decided, use request_decision. ' +
    'To decide what others request, use claim, then decide before the lease ends.',
};

/**
 * The MCP transport: streamable HTTP without sessions, so any process answers any call (B.1). Tools call endpoints with
 * the key of the HTTP request; so roles, checks, problems and the admin log are those of HTTP.
 */
export function mcpTransport(api: Api, endpoints: AnyEndpoint[]) {
  const byOperation = new Map(endpoints.map((e) => [e.operation, e]));
  const find = (operation: string) => byOperation.get(operation) as AnyEndpoint;
  const tools = Object.entries(TOOLS).map(([name, tool]) => shownTool(name, find(tool.operation), tool));
  return async (c: ApiContext, headers: Record<string, string>): Promise<Response> => {
    const caller = await identify(api, c);
    const { value, bytes } = await readJson({ api, incoming: c.env.incoming, caller: caller.id }, SMALL_BODY);
    // these revisions have no batches, and a batch would count as one call
    if (Array.isArray(value)) throw invalid('', 'the body must be one JSON-RPC message');
    const perform: Perform = async (operation, values) => {
      const e = find(operation);
      const inPath = (name: string) => Object.hasOwn((e.params as z.ZodObject).shape, name);
      const only = (isWanted: (name: string) => boolean) =>
        Object.fromEntries(Object.entries(values).filter(([name]) => isWanted(name)));
      const raw = async () => ({ value: only((name) => !inPath(name)), bytes });
      try {
        const answer = await performAs(caller, api, e, c, headers, { params: () => only(inPath), raw });
        return { answer: (answer as { body: object }).body };
      } catch (error) {
        const requestId = headers['x-request-id'] ?? '';
        return { problem: reported(api, requestId, c.req.path, error).toJSON(requestId) };
      }
    };
    const response = await respond(c.req.raw, value, (server) => {
      server.setRequestHandler('tools/list', () => ({ tools }));
      server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(perform, params, ctx));
      serveTasks(server, perform);
    });
    const text = await response.text();
    api.transfers.holdText(c.env, text);
    return new Response(text || null, response);
  };
}

/** Revisions up to 2025-11-25 begin with a handshake; in later ones each request stands alone, and may use extensions. */
async function respond(request: Request, parsedBody: unknown, serve: (server: Server) => void): Promise<Response> {
  const serverWith = (more: object) => {
    const server = new Server(INFO, { ...OPTIONS, capabilities: { tools: {}, ...more } });
    serve(server);
    return server;
  };
  if (!(await isLegacyRequest(request, parsedBody)))
    return createMcpHandler(() => serverWith(EXTENSIONS)).fetch(request, { parsedBody });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await serverWith({}).connect(transport);
  return transport.handleRequest(request, { parsedBody });
}

/** @throws ProtocolError for a tool that does not exist */
async function callTool(
  perform: Perform,
  { name, arguments: values = {} }: CallToolRequestParams,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
  const outcome = await perform(tool.operation, values);
  if ('problem' in outcome) return { ...resultOf(problemText(outcome.problem), outcome.problem), isError: true };
  const { answer } = outcome;
  if (tool !== TOOLS.request_decision || !hasTasks(ctx)) return resultOf(tool.say(answer as never), answer);
  // the library's type has no results of extensions
  return { ...taskOf(answer as TicketView), resultType: 'task' } as unknown as CallToolResult;
}
