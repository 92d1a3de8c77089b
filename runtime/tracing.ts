import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import type { Driven } from '../contract/snapshot.ts';

/** Traces; switched on by `OTEL_EXPORTER_OTLP_ENDPOINT`. */
export type Tracing = Awaited<ReturnType<typeof startTracing>>;

interface TracingOptions {
  /** The collector's endpoint as OpenTelemetry defines it: traces go to `<endpoint>/v1/traces`. */
  endpoint: string;
  role: string;
  node: string;
}

interface Call {
  name: string;
  span: Span;
  seen: Set<string>;
}

/** Maximum items whose traces get a span of one call. */
const MOST_SEEN = 20;
/** Time-out of the last export, so that a process can stop while the collector does not answer. */
const STOP_MS = 3_000;
/** OpenTelemetry's numbers: kinds of spans, and the status of one that failed. */
const KIND = { server: 1, producer: 3, consumer: 4 } as const;
const ERROR = { code: 2 } as const;

/**
 * Starts writing traces. Loads the libraries only here, so that a process without traces does not have them in memory.
 *
 * A call is answered before its item's workflow receives anything, calls share statements, and an item lives for days.
 * Therefore an item has a trace of its own. The trace's id is derived from the workflow's id, so that neither the log nor
 * the workflow's history carries it. The trace has a span for each call about the item, linked with that call's own span,
 * one for each message that is published to the workflow, and one for each activity of the workflow.
 */
export async function startTracing({ endpoint, role, node }: TracingOptions) {
  const [{ defaultTextMapGetter, ROOT_CONTEXT }, { W3CTraceContextPropagator }, sdk, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const ids = new Ids(new sdk.RandomIdGenerator());
  const propagator = new W3CTraceContextPropagator();
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const provider = new sdk.BasicTracerProvider({
    idGenerator: ids,
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `docket-${role}`, 'service.instance.id': node }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  const tracer = provider.getTracer('docket');
  const calls = new AsyncLocalStorage<Call>();
  return {
    /** Runs a call in a span, which continues the caller's trace if the call has a `traceparent`. */
    call(name: string, headers: IncomingHttpHeaders, work: () => Promise<Response>) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const span = tracer.startSpan(name, { kind: KIND.server }, parent);
      return calls.run({ name, span, seen: new Set() }, () => answering(span, work));
    },
    /** Links the span of the current call and the trace of this item. */
    saw(kind: Driven, id: string) {
      const call = calls.getStore();
      if (call) link(call, `${kind}/${id}`, (name, options) => ids.in(`${kind}/${id}`, tracer, name, options));
    },
    /** Runs work for an item, named by the id of its workflow, in a span of the item's trace. */
    item<T>(workflowId: string, name: string, attributes: Attributes, work: () => Promise<T>) {
      const kind = name.startsWith('publish') ? KIND.producer : KIND.consumer;
      const span = ids.in(workflowId, tracer, name, { kind, attributes: { 'docket.item': workflowId, ...attributes } });
      return ending(span, work);
    },
    /** Sends the remaining spans, unless the collector is away. */
    stop: () => Promise.race([provider.shutdown(), sleep(STOP_MS, undefined, { ref: false })]),
  };
}

/** Draws trace ids at random, but derives those of items from their workflows' ids. */
class Ids {
  readonly #random: { generateTraceId(): string; generateSpanId(): string };
  #next: string | undefined;

  constructor(random: { generateTraceId(): string; generateSpanId(): string }) {
    this.#random = random;
  }

  generateTraceId = (): string => this.#next ?? this.#random.generateTraceId();

  generateSpanId = (): string => this.#random.generateSpanId();

  /** A span of an item's trace. */
  in(workflowId: string, tracer: Tracer, name: string, options: SpanOptions): Span {
    this.#next = createHash('sha256').update(workflowId).digest('hex').slice(0, 32);
    try {
      return tracer.startSpan(name, { ...options, root: true });
    } finally {
      this.#next = undefined;
    }
  }
}

async function answering(span: Span, work: () => Promise<Response>): Promise<Response> {
  return ending(span, async () => {
    const answer = await work();
    span.setAttribute('http.response.status_code', answer.status);
    if (answer.status >= 500) span.setStatus(ERROR);
    return answer;
  });
}

async function ending<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setAttribute('error.type', (error as Error).name);
    span.setStatus({ ...ERROR, message: (error as Error).message });
    throw error;
  } finally {
    span.end();
  }
}

function link({ name, span, seen }: Call, item: string, start: (name: string, options: SpanOptions) => Span): void {
  if (seen.has(item) || seen.size >= MOST_SEEN) return;
  seen.add(item);
  const attributes = { 'docket.item': item };
  const ofItem = start(name, { attributes, links: [{ context: span.spanContext() }] });
  ofItem.end();
  span.addLink({ context: ofItem.spanContext(), attributes });
}
