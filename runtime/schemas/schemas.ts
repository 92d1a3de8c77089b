import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Check, Checked, Misfit } from './thread.ts';

export type { Misfit };

const DEADLINE_MS = 5_000;
const CLOSING = 'the process is about to end';
const HEAP_MB = 256;
/** Grace before the time-out counts, so that an answer that came while this thread was busy is read first. */
const GRACE_MS = 100;
/** Sources need a loader in each thread, compiled code does not. */
const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./thread.mjs', import.meta.url)
  : new URL('./thread.js', import.meta.url);

/** A JSON Schema is invalid, or cannot be applied in time. */
export class SchemaError extends Error {
  /** The index of the schema; undefined: time or memory ran out. */
  readonly index: number | undefined;

  constructor(message: string, index?: number) {
    super(message);
    this.index = index;
  }
}

/**
 * Checks values against JSON Schemas written by callers, in a thread of its own: a schema of a few lines can ask for
 * unbounded work (`$ref` that doubles at each step, `uniqueItems`, thousands of keywords), and the event loop must not
 * block. One check runs at a time; a check of more than five seconds is ended with its thread. Patterns are RE2's, which
 * take linear time.
 */
export class Schemas {
  #thread: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /**
   * @returns for each value and each schema the mismatches; empty where the value fits
   * @throws SchemaError
   */
  check(schemas: object[], values: unknown[]): Promise<Misfit[][][]> {
    const job = { schemas: schemas.map((s) => JSON.stringify(s)), values };
    const answer = this.#last.then(() => this.#run(job));
    this.#last = answer.catch(() => {});
    return answer.then((checked) => {
      if ('wrong' in checked) throw new SchemaError(checked.message, checked.wrong);
      return checked.misfits;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  async #run(job: Check): Promise<Checked> {
    if (this.#closed) throw new Error(CLOSING);
    const thread = await this.#started();
    const over = new AbortController();
    const { signal } = over;
    try {
      const answer = once(thread, 'message', { signal }).then(([checked]) => checked as Checked);
      const ended = once(thread, 'exit', { signal }).then(() => undefined);
      const late = sleep(DEADLINE_MS, undefined, { signal }).then(() => sleep(GRACE_MS, undefined, { signal }));
      for (const p of [answer, ended, late]) p.catch(() => {});
      thread.postMessage(job);
      const checked = await Promise.race([answer, ended, late]);
      if (checked) return checked;
    } catch (error) {
      await this.#end();
      throw new SchemaError((error as Error).message);
    } finally {
      over.abort();
    }
    await this.#end();
    // Not the schema's fault, so it must not count as a mismatch.
    if (this.#closed) throw new Error(CLOSING);
    throw new SchemaError('takes too much time or memory');
  }

  async #started(): Promise<Worker> {
    const starting = this.#thread ?? startThread(() => this.#ended(starting));
    this.#thread = starting;
    try {
      return await starting;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
  }

  #ended(thread: Promise<Worker>): void {
    if (this.#thread === thread) this.#thread = undefined;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.then((t) => t.terminate()).catch(() => {});
  }
}

async function startThread(onExit: () => void): Promise<Worker> {
  const thread = new Worker(THREAD, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  // without a listener it would end the process
  thread.on('error', () => {});
  thread.on('exit', onExit);
  thread.unref();
  await once(thread, 'message');
  return thread;
}
