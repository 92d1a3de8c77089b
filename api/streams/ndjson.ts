import type { Transfer } from '../transfers.ts';
import { track } from './sse.ts';

const encoder = new TextEncoder();

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
