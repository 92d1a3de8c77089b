import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedEvent } from '../../contract/feed.ts';

/** An event, and its text as the server sent it. */
export interface ReceivedEvent {
  text: string;
  event: FeedEvent;
}

/** The newest event that is stored at a target. The id shows whether it is still the same feed. */
export interface Position {
  seq: number;
  id: string;
}

/** An item whose content is gone at Docket. */
export type Erased = Pick<FeedEvent, 'kind' | 'itemId'>;

/**
 * A destination of events. `position` is never ahead of the events that were written, also after a crash, and writing
 * events a second time changes nothing.
 */
export interface Target {
  /** How messages name it. */
  name: string;
  /** null: nothing has been written. */
  position(): Promise<Position | null>;
  /** Writes events, in order, and the position of the last one; all of it is safe afterwards. */
  write(events: ReceivedEvent[]): Promise<void>;
  /** Takes the data out of the events of these items; left out: what has been written stays as it is. */
  erase?(items: Erased[]): Promise<void>;
  close(): Promise<void>;
}

/** A server cannot be reached or is too busy: try again, from the target's position. */
export class Transient extends Error {}

export function positionOf(events: ReceivedEvent[]): Position {
  const last = events.at(-1);
  if (!last) throw new Error('there is nothing to write');
  return { seq: last.event.seq, id: last.event.id };
}

/** Splits events, in order, into parts of at most so many bytes; a larger event is a part of its own. */
export function* partsOf(events: ReceivedEvent[], bytes: number): Generator<ReceivedEvent[]> {
  let part: ReceivedEvent[] = [];
  let size = 0;
  for (const event of events) {
    const more = Buffer.byteLength(event.text);
    if (size + more > bytes && part.length > 0) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(event);
    size += more;
  }
  yield part;
}

const isErasure = ({ event }: ReceivedEvent) => event.type === 'erased';

/** The items that these events say are erased. */
export const erasedIn = (events: ReceivedEvent[]): Erased[] =>
  events.filter(isErasure).map(({ event: { kind, itemId } }) => ({ kind, itemId }));

/** The same events without the data of those items: they may have been read while the erasure was under way. */
export function withoutErased(events: ReceivedEvent[], erased: Erased[]): ReceivedEvent[] {
  const gone = new Set(erased.map(({ kind, itemId }) => `${kind}/${itemId}`));
  return events.map((one) => {
    if (isErasure(one) || !gone.has(`${one.event.kind}/${one.event.itemId}`)) return one;
    const event = { ...one.event, data: null };
    return { event, text: JSON.stringify(event) };
  });
}

/** A server's answer as JSON; undefined where it is none. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const FIRST_MS = 100;
const LONGEST_MS = 10_000;

export type Retries = ReturnType<typeof retrying>;

/** Pauses between tries that grow until one succeeds, and an error after `tries` failures in a row. */
export function retrying(tries: number, signal: AbortSignal, say: (line: string) => void) {
  let failed = 0;
  return {
    /** Waits before another try. @throws Error after the last try, or when the signal fires */
    async wait(why: string) {
      if (++failed >= tries) throw new Error(`${why} (after ${failed} tries)`);
      if (failed === 1) say(`${why}; trying again`);
      const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failed - 1));
      // at random, so that several processes don't try at the same instant
      await sleep(ms * (0.5 + Math.random() / 2), undefined, { signal });
    },
    succeeded() {
      failed = 0;
    },
  };
}
