import type { Gone } from '../../runtime/waiting.ts';
import type { Transfer } from '../transfers.ts';

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
function track(stream: Pick<EventStream, 'close'>, allowed: () => Promise<boolean>): () => void {
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

export interface NdjsonOptions {
  /** Stays open until the reader disconnects or loses its access, or the server stops. */
  endless: boolean;
  headers: Record<string, string>;
  /** Whether the reader may still read; checked twice a second where it is endless. */
  allowed(): Promise<boolean>;
  /** Counts the bytes of a page until they are read. */
  hold(bytes: number): Transfer;
  /** The answer cannot go on. */
  failed(error: unknown): void;
}

/**
 * Answers with newline-delimited JSON. A page is made when the reader has read the one before, so a slow reader needs the
 * memory of one page only.
 * @param make makes the pages; `ended` fires when no more are needed
 */
export function ndjson(
  make: (ended: AbortSignal) => AsyncGenerator<string>,
  { endless, headers, allowed, hold, failed }: NdjsonOptions,
): Response {
  const ended = new AbortController();
  const pages = make(ended.signal);
  const stream = { close: () => ended.abort() };
  let untrack: (() => void) | undefined;
  let gone = false;
  let page: Transfer | undefined;
  const finish = () => {
    page?.end();
    untrack?.();
    ended.abort();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // at the first read: the answer to HEAD is never read or cancelled
        if (endless) untrack ??= track(stream, allowed);
        page?.end();
        try {
          const { value, done } = await pages.next();
          if (gone) return;
          if (!done) {
            const bytes = encoder.encode(value);
            page = hold(bytes.length);
            return controller.enqueue(bytes);
          }
          finish();
          controller.close();
        } catch (error) {
          finish();
          if (!gone) failed(error);
        }
      },
      cancel() {
        gone = true;
        finish();
      },
    },
    { highWaterMark: 0 },
  );
  const always = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return new Response(body, { headers: { ...always, ...headers } });
}
