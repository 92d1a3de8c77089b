import { type Events, type EventsOptions, reconnecting } from './events.ts';
import type { components } from './openapi.ts';
import { Transient, type Transport } from './transport.ts';

export type FeedEvent = components['schemas']['FeedEvent'];

export interface FeedOptions extends EventsOptions {
  /** The position, `seq`, behind which to begin; 0 is the beginning. */
  after?: number;
  /** Stay, and read on as events come. */
  follow?: boolean;
}

const PAGE = 1000;

export function feedEvents(transport: Transport, options: FeedOptions): Events<FeedEvent> {
  const { after = 0, follow = false, ...rest } = options;
  let position = after;
  let isOver = false;
  return reconnecting(transport, {
    ...rest,
    isOver: () => isOver,
    async *connect(server, signal) {
      for (let count = -1; count !== 0; ) {
        count = 0;
        const query = follow ? `after=${position}&follow=true` : `after=${position}&limit=${PAGE}`;
        for await (const event of linesOf(transport, server, query, signal)) {
          count++;
          position = event.seq;
          yield event;
        }
        // a follower's answer ends with its server only
        if (follow) return;
      }
      isOver = true;
    },
  });
}

async function* linesOf(transport: Transport, server: string, query: string, signal: AbortSignal) {
  let rest = '';
  for await (const text of transport.read({ server, path: `/v1/feed?${query}`, keyed: true, signal })) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    // blank ones are signs of life
    for (const line of lines) if (line !== '') yield JSON.parse(line) as FeedEvent;
  }
  if (rest !== '') throw new Transient(`${server}: the feed ended inside a line`);
}
