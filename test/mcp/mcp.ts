import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { atEndOfFile } from '../support/endings.ts';
import type { Http, Json } from '../support/http.ts';

/** The newest revision of MCP, in which each request says who calls and what they can do. */
export const NEWEST = '2026-07-28';
const TASKS = 'io.modelcontextprotocol/tasks';
const clientInfo = { name: 'test', version: '1' };

/** A result of a tool: its text, what programs read, and whether it is an error. */
export interface Said {
  text: string;
  value: Json;
  isError: boolean;
}

const said = (result: Json): Said => ({
  text: result.content[0].text,
  value: result.structuredContent,
  isError: result.isError === true,
});

/**
 * The official client with a server's key.
 * @param mode `auto`: the newest revision; `legacy`: the handshake of earlier ones
 * @param revisions that it speaks; left out: all
 */
export async function mcp(
  { url, key }: Http,
  mode: 'auto' | 'legacy' = 'auto',
  capabilities: object = {},
  revisions?: string[],
) {
  const only = revisions && { supportedProtocolVersions: revisions };
  const client = new Client(clientInfo, { versionNegotiation: { mode }, capabilities, ...only });
  const requestInit = { headers: { ...(key && { authorization: `Bearer ${key}` }) } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  atEndOfFile(() => client.close());
  const call = async (name: string, values: object): Promise<Said> =>
    said(await client.callTool({ name, arguments: { ...values } }));
  return { client, call };
}

/** One request of the newest revision, without a client, so that it may be wrong. */
export async function rpc(
  { url, key }: Http,
  method: string,
  params: Json = {},
  { tasks = false, signal }: { tasks?: boolean; signal?: AbortSignal } = {},
): Promise<Json> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': NEWEST,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': tasks ? { extensions: { [TASKS]: {} } } : {},
    ...params._meta,
  };
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': NEWEST, 'mcp-method': method, 'mcp-name': params.name ?? params.taskId ?? '' },
      ...(key && { authorization: `Bearer ${key}` }),
    },
    ...(signal && { signal }),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  return { status: response.status, ...(text.startsWith('{') ? JSON.parse(text) : { text }) };
}

/** The official tasks extension over the official client: it waits until a task is over. */
export async function mcpTasks(server: Http) {
  const clientCapabilities = { extensions: { [TASKS]: {} } };
  const { client } = await mcp(server, 'auto', clientCapabilities);
  return createTaskSessionFromClient(client, {
    endpointId: server.url,
    v2RequestFraming: { protocolVersion: NEWEST, clientInfo, clientCapabilities },
    async rawDispatch(request) {
      const { method, params } = request as Json;
      const { result, error } = await rpc(server, method, params, { tasks: true });
      return error ? { kind: 'error', error } : { kind: 'result', result };
    },
  });
}
