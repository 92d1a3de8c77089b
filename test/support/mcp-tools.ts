import { createServer } from 'node:http';
import { atEndOfFile } from './endings.ts';
import type { Http, Json } from './http.ts';

/** The tools that scenarios of the conformance package call, as calls of Docket's. */
const TOOLS: Record<string, (values: Json) => { name: string; arguments: Json }> = {
  greet: () => ({ name: 'explain', arguments: { queue: 'mcp', reviewer: 'greeted' } }),
  slow_compute: ({ seconds }) => ({ name: 'request_decision', arguments: { queue: 'mcp', body: { seconds } } }),
  failing_job: () => ({ name: 'request_decision', arguments: { queue: 'mcp', body: 0, deadlineSeconds: 1 } }),
};

/**
 * Starts a server in front of `/mcp` that has the tools of the conformance package's scenarios. What `slow_compute` requests is
 * decided after its seconds.
 * @returns its URL
 */
export async function withTools(api: Http): Promise<string> {
  const timers: NodeJS.Timeout[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let sent = '';
    for await (const chunk of incoming) sent += chunk;
    const { host: _, connection: __, 'content-length': ___, ...given } = incoming.headers;
    const headers = given as Record<string, string>;
    const message: Json = sent === '' ? undefined : JSON.parse(sent);
    const { seconds } = message?.params?.arguments ?? {};
    const tool = TOOLS[message?.params?.name];
    if (tool) {
      Object.assign(message.params, tool(message.params.arguments));
      if (headers['mcp-name']) headers['mcp-name'] = message.params.name;
    }
    const method = incoming.method ?? 'GET';
    const answer = await fetch(`${api.url}/mcp`, {
      method,
      headers,
      ...(message && { body: JSON.stringify(message) }),
    });
    const text = await answer.text();
    const id = /"taskId":"([^"]+)"/.exec(text)?.[1];
    if (seconds !== undefined && id !== undefined)
      timers.push(
        setTimeout(
          () => api.post(`/v1/tickets/${id}/resolve`, { decision: seconds, reason: 'computed' }),
          seconds * 1_000,
        ),
      );
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    outgoing.end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEndOfFile(() => {
    for (const timer of timers) clearTimeout(timer);
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as Json).port}/mcp`;
}
