import { type Events, type EventsOptions, reconnecting } from './events.ts';
import { SseParser } from './sse.ts';
import { type Connection, Transient, type Transport } from './transport.ts';

/** Whose events: a reviewer's or juror's, or those of a queue. None: of the reviewer whose key it is. */
export type StreamOf = { reviewer: string } | { juror: string } | { queue: string } | Record<string, never>;

export interface StreamEvent {
  /** `lease_lost`, `changed`, `invited`, `available`, `stats`; more may follow. */
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: what it holds depends on its type
  data: any;
  /** Where to resume: `lastEventId`. */
  id: string;
}

export interface StreamOptions extends EventsOptions {
  /** Begins behind this event; left out: now. */
  lastEventId?: string;
  /**
   * Gets a stream ticket for a connection; where there is a key, the client does that by itself. When it throws, it is
   * called again later.
   */
  ticket?(): Promise<string> | string;
}

export function streamEvents(transport: Transport, of: StreamOf, options: StreamOptions): Events<StreamEvent> {
  let { lastEventId } = options;
  const { ticket, ...rest } = options;
  const given = Object.entries(of).filter(([, name]) => name !== undefined);
  return reconnecting(transport, {
    ...rest,
    isOver: () => false,
    async *connect(server, signal) {
      const own = ticket ? await ticketOf(ticket) : await ticketFrom(transport, server, signal);
      const params = new URLSearchParams(given);
      if (own !== undefined) params.set('ticket', own);
      const headers = { ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
      const connection: Connection = { server, path: `/v1/stream?${params}`, headers, keyed: false, signal };
      const parser = new SseParser();
      for await (const text of transport.read(connection))
        for (const { id, type, data } of parser.feed(text)) {
          lastEventId = id ?? lastEventId;
          if (data !== null) yield { type, data: JSON.parse(data), id: lastEventId ?? '' };
        }
    },
  });
}

async function ticketOf(ticket: () => Promise<string> | string): Promise<string> {
  try {
    return await ticket();
  } catch (error) {
    throw new Transient(`no stream ticket: ${error}`, 0, error);
  }
}

/** A fresh one for each connection; a server that asks for no key gives none. */
async function ticketFrom(transport: Transport, server: string, signal: AbortSignal): Promise<string | undefined> {
  if (!transport.hasKey) return undefined;
  return (await transport.once(server, 'POST', '/v1/stream-tickets', signal)).ticket as string;
}
