import type { FeedEvent } from '../../contract/feed.ts';

/** An event as it came, and as it reads. */
export interface Line {
  text: string;
  event: FeedEvent;
}

/** The newest event that is safely at a target. The id shows whether it is still the same feed. */
export interface Position {
  seq: number;
  id: string;
}

/**
 * Where events go. Whatever happens between two calls, `position` never is ahead of what was written, and to write
 * events a second time changes nothing.
 */
export interface Target {
  /** How messages name it. */
  name: string;
  /** null: nothing has been written. */
  position(): Promise<Position | null>;
  /** Writes events, in order, and the position of the last one; all of it is safe afterwards. */
  write(lines: Line[]): Promise<void>;
  close(): Promise<void>;
}

/** Something is away or too busy: try again, from the target's position. */
export class Transient extends Error {}

export function positionOf(lines: Line[]): Position {
  const last = lines.at(-1);
  if (!last) throw new Error('there is nothing to write');
  return { seq: last.event.seq, id: last.event.id };
}
