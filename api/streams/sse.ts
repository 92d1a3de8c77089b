/** One open event stream; writes never wait and never throw. */
export interface EventStream {
  send(event: string, data: object, id?: string): void;
  close(): void;
}

const HEARTBEAT_MS = 15_000;
const MAX_BEHIND = 1_000;
const encoder = new TextEncoder();

/** Every stream of this process, so that a shutdown can end them: an open one would keep the server from closing. */
export const openStreams = new Set<EventStream>();

/**
 * Answers with server-sent events. `begin` gets the stream and returns what to do at its end; a reader
 * who falls a thousand events behind is cut off and resumes by `Last-Event-ID`.
 */
export function eventStream(begin: (stream: EventStream) => Promise<() => void>): Response {
  let end = () => {};
  let beat: NodeJS.Timeout | undefined;
  let stream: EventStream;
  const finish = () => {
    clearInterval(beat);
    openStreams.delete(stream);
    end();
    end = () => {};
  };
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => {
        if (!openStreams.has(stream)) return;
        controller.enqueue(encoder.encode(text));
        if ((controller.desiredSize ?? 0) < -MAX_BEHIND) stream.close();
      };
      stream = {
        send: (event, data, id) =>
          write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
        close() {
          if (!openStreams.has(stream)) return;
          finish();
          controller.close();
        },
      };
      openStreams.add(stream);
      beat = setInterval(() => write(': \n\n'), HEARTBEAT_MS);
      write('retry: 1000\n\n');
      end = await begin(stream);
    },
    cancel: finish,
  });
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return new Response(body, { headers });
}
