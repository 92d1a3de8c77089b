import { isUnavailable } from '../../services/shared/service.ts';
import type { Source } from './source.ts';
import { erasedIn, positionOf, type Retries, type Target, Transient, withoutErased } from './target.ts';

interface Export {
  source: Source;
  /** Opens the target; again after each failure. */
  open(): Promise<Target>;
  /** Whether to wait at the end of the feed for further events. */
  follow: boolean;
  /** Ends the export after the batch that is being written. */
  signal: AbortSignal;
  retries: Retries;
}

/**
 * Copies a feed to a target, from the target's own position on. After any failure it begins again as after a kill:
 * the position in memory never decides where to resume (S4.8).
 * @returns how many events were written, and the target's position; 0: it is empty
 * @throws Error with the reason, for failures that another try cannot fix
 */
export async function runExport({ source, open, follow, signal, retries }: Export) {
  const done = { events: 0, position: 0 };
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
      const erased = erasedIn(events);
      // first, so that a run that ends in between does it again
      if (erased.length > 0) await target.erase?.(erased);
      await target.write(withoutErased(events, erased));
      done.position = positionOf(events).seq;
      done.events += events.length;
      retries.succeeded();
      if (signal.aborted) return;
    }
    retries.succeeded();
  }
}

/** @throws Error when the target has events of another feed: to resume would leave a gap unnoticed */
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

/** Some errors of connections have only a code. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
