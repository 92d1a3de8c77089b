import { onTestFinished } from 'vitest';
import { type Client, eventually, type Json } from './client.ts';

interface StreamEvent {
  id: string | undefined;
  event: string;
  data: Json;
  /** `performance.now()` when it was read. */
  at: number;
}

export interface OpenStream {
  events: StreamEvent[];
  /** The first event, also among those already read, that fits. */
  first(event: string, fits?: (data: Json) => boolean): Promise<StreamEvent>;
  close(): void;
}

/** Reads server-sent events as a browser would. Returns once the server has begun to send. */
export async function openStream(client: Client, query: string, lastEventId?: string): Promise<OpenStream> {
  const abort = new AbortController();
  const headers = new Headers(lastEventId === undefined ? [] : [['last-event-id', lastEventId]]);
  if (client.key) headers.set('authorization', `Bearer ${client.key}`);
  const response = await fetch(`${client.url}/v1/stream?${query}`, { headers, signal: abort.signal });
  if (response.status !== 200 || !response.body) throw new Error(`stream: ${response.status} ${await response.text()}`);
  const events: StreamEvent[] = [];
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = (await reader.read()).value ?? '';
  const read = async () => {
    for (;;) {
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      events.push(...blocks.flatMap(parse));
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
    }
  };
  read().catch(() => {});
  const close = () => abort.abort();
  onTestFinished(close);
  const first = (event: string, fits: (data: Json) => boolean = () => true) =>
    eventually(async () => events.find((e) => e.event === event && fits(e.data)));
  return { events, first, close };
}

function parse(block: string): StreamEvent[] {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const event = fields.get('event');
  if (event === undefined) return [];
  return [{ id: fields.get('id'), event, data: JSON.parse(fields.get('data') ?? 'null'), at: performance.now() }];
}
