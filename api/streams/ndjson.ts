import { openStreams } from './sse.ts';

const ALLOWED_MS = 5_000;
const encoder = new TextEncoder();

export interface NdjsonOptions {
  /** Stays open until its reader goes, may not listen any more, or the server stops. */
  endless: boolean;
  headers: Record<string, string>;
  /** Whether the reader may still listen; asked every 5 s of an endless one. */
  allowed(): Promise<boolean>;
  /** The answer cannot go on. */
  failed(error: unknown): void;
}

/**
 * Answers with newline-delimited JSON. Each page is made when the reader has taken the one before, so a slow
 * reader costs one page of memory and not all that comes meanwhile.
 * @param make the pages; `ended` fires when no more are wanted
 */
export function ndjson(
  make: (ended: AbortSignal) => AsyncGenerator<string>,
  { endless, headers, allowed, failed }: NdjsonOptions,
): Response {
  const ended = new AbortController();
  const pages = make(ended.signal);
  const stream = { close: () => ended.abort() };
  let guard: NodeJS.Timeout | undefined;
  let gone = false;
  // at the first look and not before: the answer to HEAD is never read, nor is it cancelled
  const begin = () => {
    openStreams.add(stream);
    guard = setInterval(async () => {
      if (!(await allowed())) stream.close();
    }, ALLOWED_MS);
  };
  const finish = () => {
    clearInterval(guard);
    openStreams.delete(stream);
    ended.abort();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (endless && !guard) begin();
        try {
          const { value, done } = await pages.next();
          if (gone) return;
          if (!done) return controller.enqueue(encoder.encode(value));
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
