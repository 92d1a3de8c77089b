import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { listening } from '../support/listening.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { claim, decide } from '../support/tickets.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  links: { traceId: string; spanId: string }[];
  attributes: { key: string; value: Json }[];
}

const spans: Span[] = [];
const services = new Set<string>();
/** A collector: what it is sent over HTTP, as JSON. */
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Json;
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const { key, value } of resource.attributes) if (key === 'service.name') services.add(value.stringValue);
      for (const scope of scopeSpans) spans.push(...scope.spans.map((s: Json) => ({ links: [], ...s })));
    }
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  });
});
const { api, stop } = await startTestSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: await listening(collector) });

test('S0.5 a trace leads from a call to the workflow of its item, and back', async () => {
  const { callback, received } = await startReceiver();
  const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const added = await api.post(
    '/v1/queues/traced/tickets',
    { id: 'traced-1', body: 1, callback },
    { traceparent: `00-${caller.traceId}-${caller.spanId}-01` },
  );
  expect(added.status).toBe(201);
  const [ticket] = (await claim(api, 'traced', 'ann')).tickets;
  expect((await decide(api, ticket)).status).toBe(200);
  await eventually(async () => received.length === 1);
  await eventually(async () => (await api.get('/v1/tickets/traced-1/deliveries')).body.items[0]?.state === 'delivered');
  await stop();

  expect([...services]).toEqual(['docket-all']);
  const call = spans.find(({ name, traceId }) => name.startsWith('POST') && traceId === caller.traceId);
  expect(call).toMatchObject({ name: 'POST /v1/queues/:queue/tickets', parentSpanId: caller.spanId });
  expect(call?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 201 } });

  const traceId = createHash('sha256').update('ticket/traced-1').digest('hex').slice(0, 32);
  const ofItem = spans.filter((span) => span.traceId === traceId);
  const names = ofItem.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      ...['POST /v1/queues/:queue/tickets', 'POST /v1/queues/:queue/claim', 'POST /v1/tickets/:id/decide'],
      ...['publish ticket', 'deliverOutcome'],
    ]),
  );
  const beside = ofItem.find(({ name }) => name === call?.name);
  expect(beside?.links).toMatchObject([{ traceId: caller.traceId, spanId: call?.spanId }]);
  expect(call?.links).toMatchObject([{ traceId, spanId: beside?.spanId }]);
});
