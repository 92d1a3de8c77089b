import { isUnavailable } from '../../services/problems.ts';
import type { Patience } from './patience.ts';
import type { Source } from './source.ts';
import { positionOf, type Target, Transient } from './target.ts';

export interface Export {
  source: Source;
  /** Opens the target; after a failure once more. */
  open(): Promise<Target>;
  /** Goes on at the end of the feed. */
  follow: boolean;
  /** Fires when it is to end: what has been begun is written. */
  signal: AbortSignal;
  patience: Patience;
}

export interface Exported {
  events: number;
  /** The target's position; 0: nothing is there. */
  position: number;
}

/**
 * Brings a feed to a target, from the target's own position on. Whatever fails in between, it begins again exactly
 * as after a kill: nothing that is kept only in memory decides where to go on (S4.8).
 * @throws Error that says what is wrong, once trying again makes no sense
 */
export async function runExport({ source, open, follow, signal, patience }: Export): Promise<Exported> {
  const done: Exported = { events: 0, position: 0 };
  while (!signal.aborted) {
    let target: Target | undefined;
    try {
      target = await open();
      done.position = await resume(source, target);
      await pour(source, target, done, patience);
      while (follow && !signal.aborted) {
        await source.next(done.position);
        await pour(source, target, done, patience);
      }
      return done;
    } catch (error) {
      if (signal.aborted) return done;
      if (!(error instanceof Transient || isUnavailable(error))) throw error;
      await patience.wait(messageOf(error)).catch((enough: Error) => {
        if (!signal.aborted) throw enough;
      });
    } finally {
      await target?.close().catch(() => {});
    }
  }
  return done;

  async function pour(from: Source, to: Target, counted: Exported, whenDone: Patience): Promise<void> {
    for await (const lines of from.batches(counted.position)) {
      await to.write(lines);
      counted.position = positionOf(lines).seq;
      counted.events += lines.length;
      whenDone.succeeded();
      if (signal.aborted) return;
    }
    whenDone.succeeded();
  }
}

/** @throws Error when the target has events of another feed: going on would leave a gap that nobody sees */
async function resume(source: Source, target: Target): Promise<number> {
  const position = await target.position();
  if (!position) return 0;
  const there = await source.differs(position.seq, position.id);
  if (there === undefined) return position.seq;
  throw new Error(
    `${target.name} was filled from another feed: its position ${position.seq} is ${position.id}, ` +
      `${source.url} has ${there} there. Begin with an empty target`,
  );
}

/** Some errors of connections have a code only. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
