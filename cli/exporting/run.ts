import { isUnavailable } from '../../services/shared/problems.ts';
import type { Retries } from './retries.ts';
import type { Source } from './source.ts';
import { positionOf, type Target, Transient } from './target.ts';

export interface Export {
  source: Source;
  /** Opens the target; after a failure once more. */
  open(): Promise<Target>;
  /** Stay at the end of the feed, and go on as events come. */
  follow: boolean;
  /** Fires when it is to end: what has been begun is written. */
  signal: AbortSignal;
  retries: Retries;
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
export async function runExport({ source, open, follow, signal, retries }: Export): Promise<Exported> {
  const done: Exported = { events: 0, position: 0 };
  while (!signal.aborted) {
    let target: Target | undefined;
    try {
      target = await open();
      done.position = await resume(source, target);
      await pour(target);
      while (follow && !signal.aborted) {
        await source.next(done.position);
        await pour(target);
      }
      return done;
    } catch (error) {
      if (signal.aborted) return done;
      if (!(error instanceof Transient || isUnavailable(error))) throw error;
      await retries.wait(messageOf(error)).catch((enough: Error) => {
        if (!signal.aborted) throw enough;
      });
    } finally {
      await target?.close().catch(() => {});
    }
  }
  return done;

  async function pour(target: Target): Promise<void> {
    for await (const events of source.batches(done.position)) {
      await target.write(events);
      done.position = positionOf(events).seq;
      done.events += events.length;
      retries.succeeded();
      if (signal.aborted) return;
    }
    retries.succeeded();
  }
}

/** @throws Error when the target has events of another feed: going on would leave a gap that is not noticed */
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
