import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

// Two agents over MCP: one asks before it pays money back, the other decides what is obvious and leaves the rest to people.

const QUEUE = 'refunds';
const run = new Date().toISOString().replace(/\W/g, '');
const REFUNDS = [12, 30, 900].map((amount, n) => ({ id: `${run}-${n}`, body: { order: 100 + n, amount } }));

interface Ticket {
  id: string;
  body: { order: number; amount: number };
  decision: { approve: boolean } | null;
  lease: { token: string };
}

/** A connection to Docket; calls one of its tools. */
async function connect(name: string) {
  const { DOCKET_SERVERS = 'http://127.0.0.1:3000', DOCKET_API_KEY: key } = process.env;
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { ...(key && { authorization: `Bearer ${key}` }) } };
  const [server = ''] = DOCKET_SERVERS.split(',');
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server), { requestInit }));
  const call = async (tool: string, values: Record<string, unknown>) => {
    const { structuredContent, content, isError } = await client.callTool({ name: tool, arguments: values });
    if (isError) throw new Error(JSON.stringify(content));
    return structuredContent;
  };
  return { call, close: () => client.close() };
}

const asking = await connect('refund-agent');
const ask = (refund: object) => asking.call('request_decision', { queue: QUEUE, ...refund }) as Promise<Ticket>;
for (const refund of REFUNDS) await ask(refund);

const deciding = await connect('deciding-agent');
for (;;) {
  const claim = { queue: QUEUE, reviewer: 'agent', waitSeconds: 1 };
  const [ticket] = ((await deciding.call('claim', claim)) as { tickets: Ticket[] }).tickets;
  if (!ticket) break;
  const named = { id: ticket.id, token: ticket.lease.token };
  if (ticket.body.amount <= 100) await deciding.call('decide', { ...named, decision: { approve: true } });
  // never offered to this agent again, and to everyone else
  else await deciding.call('release', { ...named, skip: true });
}

for (const refund of REFUNDS) {
  // the same request again adds nothing, and answers what has become of it
  const { decision } = await ask(refund);
  console.log(
    `order ${refund.body.order}: ${decision ? 'paid back' : `waits for a person at /desk/${QUEUE} of the console`}`,
  );
}
await Promise.all([asking.close(), deciding.close()]);
