import { z } from '@hono/zod-openapi';
import * as mcp from '@modelcontextprotocol/server';
import { SMALL_BODY } from '../../contract/common.ts';
import { VERSION } from '../../runtime/version.ts';
import { invalid } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { readJson } from '../body.ts';
import { type AnyEndpoint, type ApiContext, identify, performAs } from '../endpoint.ts';
import { reported } from '../frame.ts';
import * as tools from './tools.ts';

const INFO = { name: 'docket', title: 'Docket', version: VERSION };
const OPTIONS = {
  supportedProtocolVersions: mcp.SUPPORTED_PROTOCOL_VERSIONS.filter((revision) => revision >= '2025-06-18'),
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
  const shown = Object.entries(tools.TOOLS).map(([name, tool]) => tools.shownTool(name, find(tool.operation), tool));
  return async (c: ApiContext, headers: Record<string, string>): Promise<Response> => {
    const caller = await identify(api, c);
    const { value, bytes } = await readJson({ api, incoming: c.env.incoming, caller: caller.id }, SMALL_BODY);
    // these revisions have no batches, and a batch would count as one call
    if (Array.isArray(value)) throw invalid('', 'must be one JSON-RPC message');
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
      server.setRequestHandler('tools/list', () => ({ tools: shown }));
      server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(perform, params, ctx));
      serveTasks(server, perform);
    });
    const text = await response.text();
    api.transfers.holdText(c.env, text);
    return new Response(text || null, response);
  };
}

/** Revisions up to 2025-11-25 begin with a handshake; in later ones each request stands alone, and may use extensions. */
async function respond(request: Request, parsedBody: unknown, serve: (server: mcp.Server) => void): Promise<Response> {
  const serverWith = (more: object) => {
    const server = new mcp.Server(INFO, { ...OPTIONS, capabilities: { tools: {}, ...more } });
    serve(server);
    return server;
  };
  if (!(await mcp.isLegacyRequest(request, parsedBody)))
    return mcp.createMcpHandler(() => serverWith(EXTENSIONS)).fetch(request, { parsedBody });
  const transport = new mcp.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await serverWith({}).connect(transport);
  return transport.handleRequest(request, { parsedBody });
}

/** @throws ProtocolError for a tool that does not exist */
async function callTool(
  perform: Perform,
  { name, arguments: values = {} }: mcp.CallToolRequestParams,
  ctx: mcp.ServerContext,
): Promise<mcp.CallToolResult> {
  const tool = Object.hasOwn(tools.TOOLS, name) ? tools.TOOLS[name] : undefined;
  if (!tool) throw new mcp.ProtocolError(mcp.ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
  const outcome = await perform(tool.operation, values);
  if ('problem' in outcome)
    return { ...tools.resultOf(tools.problemText(outcome.problem), outcome.problem), isError: true };
  const { answer } = outcome;
  if (tool !== tools.TOOLS.request_decision || !hasTasks(ctx)) return tools.resultOf(tool.say(answer as never), answer);
  // the library's type has no results of extensions
  return { ...taskOf(answer as tools.TicketView), resultType: 'task' } as unknown as mcp.CallToolResult;
}

type Outcome = { answer: object } | { problem: tools.ProblemView };
/** Calls an endpoint with values for its path and its body. */
type Perform = (operation: string, values: object) => Promise<Outcome>;

/** The extension by which a tool call is answered with a task, whose state and result the client asks for later. */
const EXTENSIONS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const POLL_MS = 5_000;

/** Whether the client has the extension; each call says so by itself. */
function hasTasks(ctx: mcp.ServerContext): boolean {
  const envelope: Record<string, unknown> = ctx.mcpReq.envelope ?? {};
  const declared = envelope[mcp.CLIENT_CAPABILITIES_META_KEY] as mcp.ClientCapabilities | undefined;
  return declared?.extensions?.['io.modelcontextprotocol/tasks'] !== undefined;
}

/** A ticket as a task. Its id is the ticket's and nothing else of it is kept: it survives restarts, any process answers. */
function taskOf(ticket: tools.TicketView) {
  const { id, state, createdAt, lease, decidedAt, invalidation } = ticket;
  return {
    taskId: id,
    status: tools.isOpen(ticket) ? 'working' : state === 'invalidated' ? 'cancelled' : 'completed',
    statusMessage: tools.stateOf(ticket),
    createdAt,
    lastUpdatedAt: decidedAt ?? invalidation?.at ?? lease?.grantedAt ?? createdAt,
    // unlimited: retention is counted from the ticket's end
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

/** Answers `tasks/*` from the ticket. */
function serveTasks(server: mcp.Server, perform: Perform): void {
  const serve = (method: string, handle: (id: string) => Promise<mcp.Result>) =>
    server.setRequestHandler(method, { params: z.object({ taskId: z.string() }) }, ({ taskId }, ctx) => {
      if (!hasTasks(ctx)) throw new mcp.MissingRequiredClientCapabilityError({ requiredCapabilities: EXTENSIONS });
      return handle(taskId);
    });
  const find = async (id: string) => insist(await perform('getTicket', { id })) as tools.TicketView;
  serve('tasks/get', async (id) => {
    const ticket = await find(id);
    const task = taskOf(ticket);
    const result = { ...tools.resultOf(task.statusMessage, ticket), isError: ticket.state !== 'decided' };
    return task.status === 'completed' ? { ...task, result } : task;
  });
  // tasks of tickets ask for no input
  serve('tasks/update', (id) => find(id).then(() => ({})));
  serve('tasks/cancel', async (id) => {
    const outcome = await perform('invalidateTicket', { id, reason: 'the MCP task was cancelled' });
    const isOver = 'problem' in outcome && outcome.problem.code === 'not_open';
    if (!isOver) insist(outcome);
    return {};
  });
}

/** @throws ProtocolError */
function insist(outcome: Outcome): object {
  if ('answer' in outcome) return outcome.answer;
  const { problem } = outcome;
  const code = problem.status < 500 ? mcp.ProtocolErrorCode.InvalidParams : mcp.ProtocolErrorCode.InternalError;
  throw new mcp.ProtocolError(code, tools.problemText(problem), problem);
}
