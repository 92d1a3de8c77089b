import { LONGEST_PAUSE_MS, pause, pauseMs } from './pauses.ts';
import { Transient, type Transport } from './transport.ts';

/** Events as they come. Leaving the loop over them closes the connection, too. */
export interface Events<Event> extends AsyncIterable<Event> {
  /** Ends the loop over them. */
  close(): void;
}

export interface EventsOptions {
  /** Ends the loop over the events. */
  signal?: AbortSignal;
  /** Called with each interruption, all of which are dealt with. */
  onError?(error: unknown): void;
}

interface Source<Event> extends EventsOptions {
  /** The events of one connection to one server. */
  connect(server: string, signal: AbortSignal): AsyncGenerator<Event>;
  /** Whether an end of the connection is the end of the events. */
  isOver(): boolean;
}

/** Events of a source that is connected anew when a connection ends: to the next server at once, then ever more slowly. */
export function reconnecting<Event>(transport: Transport, source: Source<Event>): Events<Event> {
  const { signal: outer } = source;
  const closing = new AbortController();
  const close = () => closing.abort();
  outer?.addEventListener('abort', close);
  if (outer?.aborted) close();
  return {
    close,
    async *[Symbol.asyncIterator]() {
      try {
        yield* rounds(transport, source, closing.signal);
      } catch (error) {
        if (!closing.signal.aborted) throw error;
      } finally {
        outer?.removeEventListener('abort', close);
        close();
      }
    },
  };
}

async function* rounds<Event>(
  transport: Transport,
  { connect, isOver, onError }: Source<Event>,
  signal: AbortSignal,
): AsyncGenerator<Event> {
  for (let failures = 0; !signal.aborted; ) {
    await transport.discover(signal);
    for (const server of transport.servers) {
      const began = performance.now();
      let count = 0;
      try {
        for await (const event of connect(server, signal)) {
          count++;
          yield event;
        }
        if (isOver()) return;
      } catch (error) {
        if (signal.aborted || !(error instanceof Transient)) throw error;
        onError?.(error);
      }
      if (signal.aborted) return;
      if (count > 0 || performance.now() - began > LONGEST_PAUSE_MS) failures = 0;
    }
    await pause(pauseMs(failures++), signal);
  }
}
