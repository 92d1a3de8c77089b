import { z } from '@hono/zod-openapi';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isOpen, type ProblemView, problemText, resultOf, stateOf, type TicketView } from './tools.ts';

type Outcome = { answer: object } | { problem: ProblemView };
/** Calls an endpoint with values for its path and its body. */
export type Perform = (operation: string, values: object) => Promise<Outcome>;

/** The extension by which a tool call is answered with a task, whose state and result the client asks for later. */
export const EXTENSIONS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const POLL_MS = 5_000;

/** Whether the client has the extension; each call says so by itself. */
export function hasTasks(ctx: ServerContext): boolean {
  const envelope: Record<string, unknown> = ctx.mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return declared?.extensions?.['io.modelcontextprotocol/tasks'] !== undefined;
}

/** A ticket as a task. Its id is the ticket's and nothing else of it is kept: it survives restarts, any process answers. */
export function taskOf(ticket: TicketView) {
  const { id, state, createdAt, lease, decidedAt, invalidation } = ticket;
  return {
    taskId: id,
    status: isOpen(ticket) ? 'working' : state === 'invalidated' ? 'cancelled' : 'completed',
    statusMessage: stateOf(ticket),
    createdAt,
    lastUpdatedAt: decidedAt ?? invalidation?.at ?? lease?.grantedAt ?? createdAt,
    // unlimited: retention is counted from the ticket's end
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

/** Answers `tasks/*` from the ticket. */
export function serveTasks(server: Server, perform: Perform): void {
  const serve = (method: string, handle: (id: string) => Promise<Result>) =>
    server.setRequestHandler(method, { params: z.object({ taskId: z.string() }) }, ({ taskId }, ctx) => {
      if (!hasTasks(ctx)) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: EXTENSIONS });
      return handle(taskId);
    });
  const find = async (id: string) => insist(await perform('getTicket', { id })) as TicketView;
  serve('tasks/get', async (id) => {
    const ticket = await find(id);
    const task = taskOf(ticket);
    const result = { ...resultOf(task.statusMessage, ticket), isError: ticket.state !== 'decided' };
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
  const code = problem.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  throw new ProtocolError(code, problemText(problem), problem);
}
