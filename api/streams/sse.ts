import type { Gone } from '../../runtime/waiting.ts';

/** One open event stream; writes never wait and never throw. */
export interface EventStream {
  send(event: string, data: object, id: string): void;
  /** Where to resume if the stream is cut before its first event. */
  begin(id: string): void;
  close(): void;
}

const HEARTBEAT_MS = 15_000;
const ALLOWED_MS = 500;
const MAX_BEHIND = 1_000;
const encoder = new TextEncoder();

/** Every stream of this process, so that a shutdown can end them: an open one would keep the server from closing. */
export const openStreams = new Set<Pick<EventStream, 'close'>>();

/**
 * Adds a stream to the open ones.
 * @param allowed whether the reader may still read; checked twice a second, and the stream is closed when not
 * @returns a function that removes it
 */
export function track(stream: Pick<EventStream, 'close'>, allowed: () => Promise<boolean>): () => void {
  openStreams.add(stream);
  const guard = setInterval(async () => {
    if (!(await allowed())) stream.close();
  }, ALLOWED_MS);
  return () => {
    clearInterval(guard);
    openStreams.delete(stream);
  };
}

/**
 * Answers with server-sent events. A reader that is a thousand events behind is disconnected, and resumes by `Last-Event-ID`.
 * @param allowed as for `track`
 * @param begin subscribes the stream and returns a function that unsubscribes it
 */
export async function eventStream(
  signal: Gone,
  allowed: () => Promise<boolean>,
  begin: (stream: EventStream) => Promise<() => void>,
): Promise<Response> {
  let end = () => {};
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const write = (text: string) => {
    if (!openStreams.has(stream)) return;
    controller?.enqueue(encoder.encode(text));
    if ((controller?.desiredSize ?? 0) < -MAX_BEHIND) stream.close();
  };
  const beat = setInterval(() => write(': \n\n'), HEARTBEAT_MS);
  const finish = () => {
    clearInterval(beat);
    untrack();
    end();
  };
  const stream: EventStream = {
    send: (event, data, id) => write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    begin: (id) => write(`id: ${id}\n\n`),
    close() {
      if (!openStreams.has(stream)) return;
      finish();
      controller?.close();
    },
  };
  const body = new ReadableStream<Uint8Array>({
    start(c) {
      controller = c;
    },
    cancel: finish,
  });
  const untrack = track(stream, allowed);
  signal.addEventListener('abort', () => stream.close(), { once: true });
  write('retry: 1000\n\n');
  // subscribed before the headers are sent: a reader that has them misses no event
  try {
    end = await begin(stream);
  } catch (error) {
    stream.close();
    throw error;
  }
  if (!openStreams.has(stream))
    end(); // the caller has disconnected meanwhile
  else if (signal.aborted) stream.close();
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return new Response(body, { headers });
}
